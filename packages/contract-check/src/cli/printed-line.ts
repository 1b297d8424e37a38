import { terminalText } from './terminal-text.ts';

/** A line of the output, parts of which are foreign, or a command that we give to the workflow of GitHub. */
export type Line = string | { readonly workflowCommand: string };

/**
 * Renders a line. Only what calls this writes line ends, so a foreign value begins no line. Nor does it give a command to a CI
 * service: GitHub reads `::` after spaces at the start of a line, and `##[` anywhere, as Azure reads `##vso[`.
 */
export function printedLine(line: Line): string {
  if (typeof line !== 'string') return terminalText(line.workflowCommand);
  return terminalText(line)
    .replace(/^(\s*):(?=:)/, String.raw`$1\u003a`)
    .replaceAll(/#(?=#[\w.]*\[)/g, String.raw`\u0023`);
}

/** @returns the lines with an end each */
export function printedLines(lines: readonly Line[]): string {
  return lines.map((line) => `${printedLine(line)}\n`).join('');
}

/** The lines of a text without foreign line ends: of our own, or of JSON, which escapes them. */
export function linesOf(text: string): string[] {
  return text.split('\n');
}

export function jsonLines(value: unknown): string[] {
  return linesOf(JSON.stringify(value, null, 2));
}
