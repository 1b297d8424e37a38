/** What the site uses of it, for `check`: only `pnpm site` installs it. */
declare module 'beautiful-mermaid' {
  export function renderMermaidSVG(text: string, options: Record<string, string | number | boolean>): string;
}
