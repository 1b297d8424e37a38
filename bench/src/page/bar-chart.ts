import type { TopLevelSpec } from 'vega-lite';

export interface Bar {
  label: string;
  value: number;
  /** The value as printed. */
  text: string;
  highlighted: boolean;
}

interface BarChart {
  title: string;
  /** What the bars show, with its unit. */
  axis: string;
  /** Each has horizontal bars on one scale. */
  panels: readonly { title: string; bars: readonly Bar[] }[];
  /** Whether the panels have the same scale. */
  shared: boolean;
}

// An image has no access to the theme of the page, so it has its own background in both.
const style = `<style>
  svg { --card: #fff; --text: #1f2328; --muted: #59636e; --grid: #d1d9e0; --bar: #afb8c1; --ours: #0969da }
  @media (prefers-color-scheme: dark) {
    svg { --card: #0d1117; --text: #f0f6fc; --muted: #9198a1; --grid: #3d444d; --bar: #656c76; --ours: #4493f8 }
  }
</style>`;

// Two charts fit beside each other on a desktop, and one fits on a phone.
const width = 404;
const text = { font: 'sans-serif', fontSize: 13, color: 'var(--text)' };

/** An SVG that is readable in light and in dark. */
export async function barChart({ title, axis, panels, shared }: BarChart): Promise<string> {
  const values = { field: 'value', type: 'quantitative', title: null, axis: { tickCount: 4, format: ',~f' } } as const;
  const spec: TopLevelSpec = {
    background: 'var(--card)',
    padding: 14,
    spacing: 14,
    title: { text: title, subtitle: axis, anchor: 'start', offset: 14 },
    resolve: { scale: { x: shared ? 'shared' : 'independent' } },
    vconcat: panels.map((panel) => ({
      title: { text: panel.title, anchor: 'start' },
      data: { values: [...panel.bars] },
      width: 180,
      height: { step: 25 },
      encoding: {
        y: { field: 'label', type: 'nominal', sort: null, title: null, axis: { minExtent: 108, maxExtent: 108 } },
        x: values,
      },
      layer: [
        {
          mark: { type: 'bar', height: 17 },
          encoding: { color: { condition: { test: 'datum.highlighted', value: 'var(--ours)' }, value: 'var(--bar)' } },
        },
        {
          mark: {
            type: 'text',
            align: 'left',
            dx: 6,
            aria: false,
            stroke: 'var(--card)',
            strokeWidth: 4,
            strokeJoin: 'round',
          },
          encoding: { text: { field: 'text' } },
        },
        { mark: { type: 'text', align: 'left', dx: 6 }, encoding: { text: { field: 'text' } } },
      ],
    })),
    config: {
      text,
      title: { ...text, fontWeight: 'bold', subtitleFont: text.font, subtitleColor: 'var(--muted)', frame: 'bounds' },
      axis: {
        labelFont: text.font,
        labelFontSize: 12,
        labelColor: 'var(--text)',
        gridColor: 'var(--grid)',
        domain: false,
        ticks: false,
      },
      axisX: { labelColor: 'var(--muted)', labelFontSize: 11 },
      view: { stroke: null },
    },
  };
  // Imported here, so that tests of the page run without the peers of the benches.
  const [{ parse, View }, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  const svg = await new View(parse(compile(spec).spec), { renderer: 'none' }).toSVG();
  // Without a canvas, vega takes texts for wider than they are.
  const [estimated = ''] = /width="\d+" height="\d+" viewBox="0 0 \d+/.exec(svg) ?? [];
  const [, height = ''] = /height="(\d+)"/.exec(estimated) ?? [];
  const narrow = svg.replace(estimated, `width="${width}" height="${height}" viewBox="0 0 ${width}`);
  return `${narrow.replace('>', `>\n${style}`)}\n`;
}
