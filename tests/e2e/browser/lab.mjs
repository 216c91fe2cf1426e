// SPDX-License-Identifier: BSD-3-Clause
//
// Opens a notebook in JupyterLab and says what is drawn in it, as JSON. The job is JSON on stdin:
// {base, token, notebook, charts (how many to wait for), theme, switch_to, run, type, screenshot,
// width, height, timeout_ms}; with `type`, that text is typed into the first cell and completed,
// then explained; playwright-core is found under $TG_NODE_PATH. For each Vega chart: the marks
// of the scene that was painted (positions in pixels, texts, colours), not the specification, since
// a chart can look fine and be wrong.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(process.env.TG_NODE_PATH + '/');
const { chromium } = require('playwright-core');
const job = JSON.parse(readFileSync(0, 'utf8'));
const timeout = job.timeout_ms ?? 120000;
const errors = [];

const browser = await chromium.launch({
	executablePath: process.env.TG_CHROMIUM ?? '/usr/bin/chromium',
	args: ['--no-sandbox'],
});
try {
	// Tall enough for every cell: JupyterLab draws only what is in view.
	const viewport = { width: job.width ?? 1300, height: job.height ?? 3000 };
	const page = await browser.newPage({ viewport });
	page.setDefaultTimeout(timeout);
	page.on('pageerror', (e) => errors.push(String(e)));
	await page.addInitScript(() => {
		window.tgViews = (widget) => widget._result?.view ? [widget._result.view] :
			[...widget.layout?.widgets ?? widget.layout ?? []].flatMap(
				(child) => window.tgViews(child));
	});
	await page.goto(`${job.base}lab/tree/${job.notebook}?reset&token=${job.token}`);
	await page.waitForSelector('.jp-Notebook .jp-Cell');
	const theme = async (name) => {
		await page.evaluate((t) => window.jupyterapp.commands.execute('apputils:change-theme',
			{ theme: t }), name);
		await page.waitForFunction((t) => document.body.dataset.jpThemeName === t, name);
	};
	await theme(job.theme ?? 'JupyterLab Light');
	const idle = () => page.waitForFunction(() =>
		window.jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel
			?.status === 'idle');
	if (job.run || job.type)
		await idle();
	const typed = {};
	if (job.type) {
		await page.locator('.jp-Notebook .jp-Cell .cm-content').first().click();
		await page.keyboard.type(job.type);
		// IPython loads jedi at the first question, JupyterLab waits a second: ask again.
		const item = page.locator('.jp-Completer-item').first();
		for (let end = Date.now() + timeout; !await item.isVisible() && Date.now() < end;) {
			await page.keyboard.press('Tab');
			await item.waitFor({ timeout: 3000 }).catch(() => {});
			await idle();
		}
		typed.offered = await page.locator('.jp-Completer-match').allInnerTexts();
		await page.keyboard.press('Enter');
		await page.keyboard.press('Shift+Tab');
		typed.explained = await page.locator('.jp-Tooltip').innerText();
	}
	if (job.run) {
		await page.evaluate(() => window.jupyterapp.commands.execute('notebook:run-all-cells'));
	}
	await page.waitForFunction((n) =>
		(window.jupyterapp.shell.currentWidget?.content?.widgets ?? [])
			.flatMap((child) => window.tgViews(child)).length >= n, job.charts);
	if (job.switch_to)
		await theme(job.switch_to);
	await page.waitForTimeout(500); // one paint after the last layout
	const seen = await page.evaluate(() => {
		const keep = ['width', 'height', 'fill', 'stroke', 'strokeDash', 'text', 'defined', 'opacity', 'fontSize'];
		// Positions are made relative to the outermost group: one panel of the chart.
		const scene = (item, out, panel, ox, oy) => {
			for (const mark of item.items ?? []) {
				if (mark.marktype === 'group') {
					// Vega moves axes by half a pixel, so that their lines are sharp.
					const sharp = mark.role === 'axis' ? 0.5 : 0;
					for (const group of mark.items)
						if (panel === undefined)
							scene(group, out, mark.name ?? mark.role, 0, 0);
						else
							scene(group, out, panel, ox + (group.x ?? 0) - sharp,
								oy + (group.y ?? 0) - sharp);
					continue;
				}
				const at = (i) => ({
					x: (i.x ?? 0) + ox, y: (i.y ?? 0) + oy,
					...(i.x2 === undefined ? {} : { x2: i.x2 + ox }),
					...(i.y2 === undefined ? {} : { y2: i.y2 + oy }),
				});
				out.push({
					panel: panel ?? '', type: mark.marktype, role: mark.role, name: mark.name ?? '',
					items: mark.items.map((i) => Object.assign(at(i),
						...keep.filter((k) => i[k] !== undefined).map((k) => ({ [k]: i[k] })))),
				});
			}
			return out;
		};
		const colour = (name) => {
			const probe = document.createElement('div');
			probe.style.color = `var(${name})`;
			document.body.append(probe);
			const value = getComputedStyle(probe).color;
			probe.remove();
			return value;
		};
		return {
			background: colour('--jp-layout-color0'),
			cells: window.jupyterapp.shell.currentWidget.content.widgets.map((cell) => ({
				text: cell.outputArea?.node.innerText ?? '',
				top: cell.node.getBoundingClientRect().top -
					cell.node.closest('.jp-Notebook').getBoundingClientRect().top,
				outputs: cell.model.outputs?.toJSON() ?? [],
				charts: window.tgViews(cell).map((view) => ({
					width: view.width(), height: view.height(), background: view.background(),
					marks: scene(view.scenegraph().root.items[0], [], undefined, 0, 0),
				})),
			})),
		};
	});
	if (job.screenshot)
		await page.locator('.jp-Notebook').first().screenshot({ path: job.screenshot });
	if (job.run || job.type)
		await page.evaluate(() =>
			window.jupyterapp.shell.currentWidget.context.sessionContext.shutdown());
	process.stdout.write(JSON.stringify({ ...seen, ...typed, errors }));
} finally {
	await browser.close();
}
