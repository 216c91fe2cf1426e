'use strict';
// What makes a report better with scripts: a cross-hair through all plots, zoom, sorting, filters.
// Everything is there without it.
(() => {
	const SVG = 'http://www.w3.org/2000/svg';
	const plots = [];
	let shown = null; // [from, to] in seconds, or null: all of it

	const element = (name, attributes, parent) => {
		const e = document.createElementNS(SVG, name);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		if (parent) parent.append(e);
		return e;
	};

	const number = (v) => v === null ? '–' :
		Math.abs(v) >= 1000 ? v.toFixed(0) : String(Number(v.toPrecision(4)));

	const clock = (s) => {
		const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
		const rest = (s % 60).toFixed(shown && shown[1] - shown[0] < 60 ? 2 : s < 600 ? 1 : 0);
		return (h ? h + ' h ' : '') + (h || m ? m + ' min ' : '') + rest + ' s';
	};

	// ---- where time is in a plot ----

	const span = (p) => shown || [0, p.data.end];
	const xOf = (p, t) => {
		const [a, b] = span(p);
		return p.data.left + (t - a) / (b - a) * (p.data.right - p.data.left);
	};
	const timeAt = (p, event) => {
		const box = p.svg.getBoundingClientRect();
		const x = (event.clientX - box.left) / box.width * p.svg.viewBox.baseVal.width;
		const share = (x - p.data.left) / (p.data.right - p.data.left);
		const [a, b] = span(p);
		return Math.min(Math.max(a + share * (b - a), a), b);
	};

	// ---- the cross-hair ----

	const valueAt = (series, key, t) => {
		const list = series[key];
		if (!list || !(t >= series.t0 && t <= series.t1)) return null;
		const i = Math.floor((t - series.t0) / (series.t1 - series.t0) * list.length);
		return list[Math.min(i, list.length - 1)];
	};

	const read = (p, t) => {
		p.read.textContent = '';
		if (t === null) return;
		p.read.append('at ' + clock(t));
		for (const panel of p.data.panels) {
			panel.series.slice(0, panel.heat ? 0 : 12).forEach((s) => {
				const mean = valueAt(s, 'mean', t), max = valueAt(s, 'max', t);
				const b = document.createElement('b');
				b.textContent = number(mean);
				p.read.append(' · ' + s.name + ' ', b, ' ' + panel.unit);
				if (max !== null && number(max) !== number(mean))
					p.read.append(' (most ' + number(max) + ')');
			});
			if (panel.heat) {
				const busy = panel.series.map((s) => valueAt(s, 'mean', t)).filter((v) => v !== null);
				const mean = busy.reduce((a, v) => a + v, 0) / (busy.length || 1);
				const b = document.createElement('b');
				b.textContent = number(mean);
				p.read.append(' · mean of ' + busy.length + ' ', b, ' ' + panel.unit);
			}
		}
	};

	const hover = (t) => {
		for (const p of plots) {
			const there = t !== null && p.data.panels.length;
			p.hair.setAttribute('visibility', there ? 'visible' : 'hidden');
			if (there) {
				const x = xOf(p, t).toFixed(1);
				p.hair.setAttribute('x1', x);
				p.hair.setAttribute('x2', x);
			}
			read(p, there ? t : null);
		}
	};

	// ---- zoom ----

	const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300,
		600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

	const tickText = (t, step) => {
		if (t >= 3600 || step >= 3600) {
			const m = Math.round(t / 60) % 60;
			return Math.floor(t / 3600 + 1e-9) + ' h' + (m ? ' ' + m + ' min' : '');
		}
		if (step >= 60) return Math.round(t / 60) + ' min';
		return Number(t.toFixed(3)) + ' s';
	};

	const drawAxis = (p) => {
		const [a, b] = shown, old = p.axis.querySelector('text');
		const y = old ? old.getAttribute('y') : 0;
		const step = steps.find((s) => (b - a) / s <= 9) || (b - a) / 5;
		p.live.textContent = '';
		for (let t = Math.ceil(a / step) * step; t <= b; t += step) {
			const e = element('text', { x: xOf(p, t).toFixed(1), y, 'font-size': 11, class: 'tg-m',
				'text-anchor': 'middle' }, p.live);
			e.textContent = tickText(t, step);
		}
	};

	const drawStrip = (p) => {
		for (const rect of p.strip) {
			const box = rect.e, x0 = rect.x, x1 = rect.x + rect.w;
			const scale = (p.data.right - p.data.left) / p.data.end;
			const from = xOf(p, (x0 - p.data.left) / scale), to = xOf(p, (x1 - p.data.left) / scale);
			const a = Math.max(from, p.data.left), b = Math.min(to, p.data.right);
			box.setAttribute('x', a);
			box.setAttribute('width', Math.max(b - a, 0));
			const title = box.querySelector('title');
			if (shown && title && b - a > 60) {
				const e = element('text', { x: a + 6, y: rect.y + 14.5, 'font-size': 12, class: 'tg-t' },
					p.live);
				e.textContent = title.textContent.slice(0, Math.floor((b - a - 10) / 7));
			}
		}
	};

	const zoom = (range) => {
		shown = range;
		for (const p of plots) {
			if (!p.data.panels.length) continue;
			const [a, b] = span(p), k = p.data.end / (b - a);
			const shift = xOf(p, 0) - p.data.left * k;
			p.figure.classList.toggle('zoomed', !!range);
			for (const g of p.moving)
				if (range) g.setAttribute('transform', 'translate(' + shift + ' 0) scale(' + k + ' 1)');
				else g.removeAttribute('transform');
			for (const e of p.still) e.setAttribute('visibility', range ? 'hidden' : 'visible');
			p.live.textContent = '';
			if (range) drawAxis(p);
			drawStrip(p);
			p.reset.hidden = !range;
		}
		hover(null);
	};

	const listen = (p) => {
		let from = null, x0 = 0;
		p.svg.addEventListener('pointermove', (event) => {
			hover(timeAt(p, event));
			if (from === null) return;
			const x = xOf(p, timeAt(p, event));
			p.pick.setAttribute('x', Math.min(x, x0));
			p.pick.setAttribute('width', Math.abs(x - x0));
		});
		p.svg.addEventListener('pointerleave', () => { if (from === null) hover(null); });
		p.svg.addEventListener('pointerdown', (event) => {
			if (event.button || event.pointerType === 'touch') return;
			from = timeAt(p, event);
			x0 = xOf(p, from);
			p.svg.setPointerCapture(event.pointerId);
		});
		p.svg.addEventListener('pointerup', (event) => {
			const to = timeAt(p, event), range = [Math.min(from, to), Math.max(from, to)];
			p.pick.setAttribute('width', 0);
			if (from !== null && xOf(p, range[1]) - xOf(p, range[0]) > 6) zoom(range);
			from = null;
		});
		p.svg.addEventListener('dblclick', () => zoom(null));
	};

	const prepare = (figure) => {
		const svg = figure.querySelector('svg'), source = figure.querySelector('script');
		if (!svg || !source) return;
		const p = { figure, svg, data: JSON.parse(source.textContent) };
		if (!p.data.panels.length) return;
		const top = Math.min(...p.data.panels.map((q) => q.top));
		const bottom = Math.max(...p.data.panels.map((q) => q.bottom));
		const width = p.data.right - p.data.left;
		const clip = element('clipPath', { id: svg.id + '-clip' }, svg);
		element('rect', { x: p.data.left, y: top - 6, width, height: bottom - top + 12 }, clip);
		p.moving = [...svg.querySelectorAll('.tg-series, .tg-shades')];
		for (const g of p.moving) { // the clip stays where it is while what is in it moves
			const frame = element('g', { 'clip-path': 'url(#' + svg.id + '-clip)' });
			g.replaceWith(frame);
			frame.append(g);
		}
		p.axis = svg.querySelector('.tg-axis');
		p.still = [p.axis, ...svg.querySelectorAll('.tg-strip text, .tg-flags')].filter(Boolean);
		p.strip = [...svg.querySelectorAll('.tg-strip rect')].map((e) => ({ e,
			x: Number(e.getAttribute('x')), y: Number(e.getAttribute('y')),
			w: Number(e.getAttribute('width')) }));
		p.live = element('g', { class: 'live' }, svg);
		p.pick = element('rect', { class: 'pick', x: 0, y: top, width: 0, height: bottom - top }, svg);
		p.hair = element('line', { class: 'hair', y1: top, y2: bottom, visibility: 'hidden' }, svg);
		p.read = document.createElement('div');
		p.read.className = 'read';
		figure.append(p.read);
		p.reset = document.createElement('button');
		p.reset.className = 'reset';
		p.reset.textContent = 'show all';
		p.reset.hidden = true;
		p.reset.addEventListener('click', () => zoom(null));
		figure.append(p.reset);
		plots.push(p);
		listen(p);
	};

	// ---- tables ----

	const keyOf = (row, i) => {
		const cell = row.cells[i];
		return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim();
	};

	const compare = (a, b) => {
		if (typeof a === 'number' && typeof b === 'number') return a - b;
		if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
		return a.localeCompare(b);
	};

	const sortBy = (table, i) => {
		const head = table.tHead.rows[0].cells[i], body = table.tBodies[0];
		const numeric = head.classList.contains('n');
		const was = head.getAttribute('aria-sort');
		const down = was ? was === 'ascending' : numeric; // numbers: the largest first
		for (const th of table.tHead.rows[0].cells) th.removeAttribute('aria-sort');
		head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
		const rows = [...body.rows].map((row) => [keyOf(row, i), row]);
		const known = (v) => !(typeof v === 'string' && numeric);
		rows.sort(([a], [b]) => known(a) !== known(b) ? (known(a) ? -1 : 1) :
			down ? compare(b, a) : compare(a, b));
		body.append(...rows.map(([, row]) => row));
	};

	const equip = (table) => {
		[...table.tHead.rows[0].cells].forEach((th, i) => {
			const button = document.createElement('button');
			button.append(...th.childNodes);
			th.append(button);
			button.addEventListener('click', () => sortBy(table, i));
		});
		if (table.tBodies[0].rows.length < 8) return;
		const input = document.createElement('input');
		input.className = 'filter';
		input.type = 'search';
		input.placeholder = 'filter';
		input.setAttribute('aria-label', 'filter the rows');
		input.addEventListener('input', () => {
			const words = input.value.toLowerCase().split(/\s+/);
			for (const row of table.tBodies[0].rows)
				row.hidden = !words.every((w) => row.textContent.toLowerCase().includes(w));
		});
		table.parentElement.before(input);
	};

	document.querySelectorAll('figure').forEach(prepare);
	document.querySelectorAll('table.sort').forEach(equip);
})();
