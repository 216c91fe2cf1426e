// SPDX-License-Identifier: BSD-3-Clause
//
// Opens a report and says what it does, as JSON: with scripts and without, with no network. The job
// is JSON on stdin: {file, screenshot}; with the latter `tops` are where its headings are in it, in
// pixels. playwright-core is found under $TG_NODE_PATH.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(process.env.TG_NODE_PATH + '/');
const { chromium } = require('playwright-core');
const job = JSON.parse(readFileSync(0, 'utf8'));
const errors = [], requests = [];

const browser = await chromium.launch({
	executablePath: process.env.TG_CHROMIUM ?? '/usr/bin/chromium',
	args: ['--no-sandbox'],
});

const open = async (javaScriptEnabled) => {
	const context = await browser.newContext({ offline: true, javaScriptEnabled,
		viewport: { width: 1100, height: 1000 } });
	const page = await context.newPage();
	page.on('pageerror', (e) => errors.push(String(e)));
	page.on('console', (m) => { if (m.type() === 'error') errors.push(m.text()); });
	page.on('request', (r) => { if (r.url() !== 'file://' + job.file) requests.push(r.url()); });
	page.on('dialog', (d) => { errors.push('dialog ' + d.message()); d.dismiss(); });
	await page.goto('file://' + job.file);
	return page;
};

try {
	const seen = {};
	const page = await open(true);
	if (job.screenshot) {
		await page.screenshot({ path: job.screenshot, fullPage: true });
		seen.tops = await page.locator('h2, h3').evaluateAll((list) => Object.fromEntries(
			list.map((h) => [h.innerText, h.getBoundingClientRect().top + window.scrollY])));
	}
	seen.title = await page.title();
	seen.sections = await page.locator('h2').allInnerTexts();
	seen.plots = await page.locator('figure').evaluateAll((list) => list.map((f) => ({
		label: f.getAttribute('aria-label'),
		series: JSON.parse(f.querySelector('script').textContent).panels.flatMap((p) =>
			p.series.map((s) => s.name)),
		lines: f.querySelectorAll('.tg-series .tg-line, .tg-series .tg-heat').length,
	})));

	// the cross-hair: what is read in the middle of the CPU plot, and what its data say
	const cpu = page.locator('figure[aria-label^="CPU · cores busy"]');
	await cpu.scrollIntoViewIfNeeded();
	const data = JSON.parse(await cpu.locator('script').textContent());
	const box = await cpu.locator('svg').boundingBox();
	const scale = box.width / 960;
	const middle = box.x + (data.left + data.right) / 2 * scale;
	const y = box.y + (data.panels[0].top + data.panels[0].bottom) / 2 * scale;
	await page.mouse.move(middle, y);
	seen.read = await cpu.locator('.read').innerText();
	const series = data.panels[0].series[0];
	const half = Math.floor(series.mean.length / 2); // a pixel more or less is another value
	seen.middle = series.mean.slice(half - 2, half + 3);
	seen.shared = await page.locator('figure .hair[visibility=visible]').count();

	// a closer look at the third quarter, and back
	const at = (share) => box.x + (data.left + (data.right - data.left) * share) * scale;
	await page.mouse.move(at(0.5), y);
	await page.mouse.down();
	await page.mouse.move(at(0.6), y, { steps: 3 });
	await page.mouse.move(at(0.75), y, { steps: 3 });
	await page.mouse.up();
	seen.zoomed = await page.locator('figure.zoomed').count();
	seen.ticks = await cpu.locator('.live text').allTextContents();
	seen.transform = await cpu.locator('.tg-series').first().getAttribute('transform');
	await page.mouse.move(middle, y);
	seen.closer = await cpu.locator('.read').innerText();
	await page.mouse.dblclick(middle, y);
	seen.unzoomed = await page.locator('figure.zoomed').count();

	// tables: sorted by a number, then filtered
	const tree = page.locator('#process-tree ~ .wide table, #process-tree ~ details table').first();
	await page.locator('details').evaluateAll((list) => list.forEach((d) => { d.open = true; }));
	const column = async (i) => tree.locator(`tbody tr:not([hidden]) > :nth-child(${i})`)
		.evaluateAll((list) => list.map((c) => c.dataset.v ?? c.textContent));
	await tree.locator('thead button').nth(4).click();
	seen.byCpu = (await column(5)).map(Number);
	seen.rows = seen.byCpu.length;
	const filter = page.locator('input.filter');
	if (await filter.count()) {
		await filter.last().fill('no such process');
		seen.filtered = await page.locator('table.sort').last().locator('tbody tr:not([hidden])').count();
		await filter.last().fill('');
	}
	const plain = await open(false);
	seen.withoutScripts = {
		sections: await plain.locator('h2').allInnerTexts(),
		lines: await plain.locator('.tg-line').count(),
		rows: await plain.locator('table tbody tr').count(),
		images: await plain.locator('img').count(),
	};
	console.log(JSON.stringify({ ...seen, errors, requests }));
} finally {
	await browser.close();
}
