/** Horizontal bars on one scale. */
export interface Panel {
  title: string;
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  value: number;
  /** The value as printed. */
  text: string;
  highlighted: boolean;
}

export interface BarChart {
  title: string;
  /** What the bars show, with its unit. */
  axis: string;
  panels: readonly Panel[];
  /** Whether the panels have the same scale. */
  shared: boolean;
}

// Two charts fit beside each other on a desktop, and one fits on a phone, with readable text.
const width = 404;
const margin = 14;
const barsLeft = 134;
// The space to the right holds the value of the longest bar.
const barsRight = 332;
const rowHeight = 25;
const barHeight = 17;
// Of the labels. The title is wider, and the axis narrower.
const characterWidth = 6.9;

// An image has no access to the theme of the page, so it has its own background in both.
const style = `
    text { font: 13px -apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif; fill: #1f2328 }
    .title { font-size: 15px; font-weight: 600 }
    .panel { font-weight: 600 }
    .muted, .tick { fill: #59636e; font-size: 12px }
    .tick { font-size: 11px }
    .card { fill: #ffffff; stroke: #d1d9e0 }
    .grid { stroke: #d1d9e0 }
    .bar { fill: #afb8c1 }
    .ours { fill: #0969da }
    .value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .muted, .tick { fill: #9198a1 }
      .card { fill: #0d1117; stroke: #3d444d }
      .grid { stroke: #3d444d }
      .bar { fill: #656c76 }
      .ours { fill: #4493f8 }
      .value { stroke: #0d1117 }
    }`;

/** An SVG that is readable in light and in dark. */
export function barChart({ title, axis, panels, shared }: BarChart): string {
  const maxima = panels.map(({ bars }) => Math.max(...bars.map(({ value }) => value)));
  const available = width - 2 * margin;
  const parts: string[] = [
    text('title', margin, 26, title, available * 0.87),
    text('muted', margin, 45, axis, available * 1.08),
  ];
  let top = 62;
  for (const [index, panel] of panels.entries()) {
    const drawn = drawPanel(panel, top, shared ? Math.max(...maxima) : (maxima[index] ?? 0));
    parts.push(...drawn.parts);
    top = drawn.bottom + 12;
  }
  const height = top;
  const described = panels.map(
    (panel) => `${panel.title}: ${panel.bars.map((bar) => `${bar.label} ${bar.text}`).join(', ')}.`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>${escape(`${title}. ${axis}`)}</title>
  <desc>${escape(described.join(' '))}</desc>
  <style>${style}
  </style>
  <rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
${parts.map((part) => `  ${part}`).join('\n')}
</svg>
`;
}

function drawPanel(panel: Panel, panelTop: number, maximum: number): { parts: string[]; bottom: number } {
  const parts = [text('panel', margin, panelTop + 14, panel.title, width - 2 * margin)];
  const top = panelTop + 24;
  const bottom = top + panel.bars.length * rowHeight;
  const step = tickStep(maximum);
  const ticks = Math.ceil(maximum / step);
  const x = (value: number): number => barsLeft + (value / (ticks * step)) * (barsRight - barsLeft);
  for (let tick = 0; tick <= ticks; tick += 1) {
    const at = x(tick * step);
    parts.push(`<path class="grid" d="M${round(at)} ${top}V${bottom}"/>`);
    const label = (tick * step).toLocaleString('en-US');
    parts.push(`<text class="tick" x="${round(at)}" y="${bottom + 14}" text-anchor="middle">${label}</text>`);
  }
  for (const [row, bar] of panel.bars.entries()) {
    const rowTop = top + row * rowHeight;
    const middle = rowTop + rowHeight / 2 + 4.5;
    const length = round(x(bar.value) - barsLeft);
    parts.push(text('label', margin, middle, bar.label, barsLeft - margin - 6));
    parts.push(
      `<rect class="${bar.highlighted ? 'bar ours' : 'bar'}" x="${barsLeft}" y="${rowTop + (rowHeight - barHeight) / 2}" width="${length}" height="${barHeight}"/>`,
    );
    parts.push(text('value', round(barsLeft + length + 6), middle, bar.text, width - margin));
  }
  return { parts, bottom: bottom + 20 };
}

/** A round number of which at most four reach the maximum. */
function tickStep(maximum: number): number {
  const power = 10 ** Math.floor(Math.log10(maximum / 4));
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power * 4 >= maximum) ?? 10) * power;
}

/** @throws {Error} for a text that is too wide */
function text(className: string, x: number, y: number, content: string, widthMax: number): string {
  if (content.length * characterWidth > widthMax) throw new Error(`Too wide for the chart: ${content}`);
  return `<text class="${className}" x="${x}" y="${y}">${escape(content)}</text>`;
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
