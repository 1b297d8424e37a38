import { invisibleCharacters } from './terminal-text.ts';

/** Quotes a text for `sh`, `bash` and `zsh`. Every character stays as it is, including a line feed. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// They could be lost when somebody copies the command. A line feed shows itself.
const hidden = new RegExp(`(?!\\n)${invisibleCharacters.source}`, 'gu');

function octal(character: string): string {
  return Array.from(new TextEncoder().encode(character), (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
}

/** A command that prints the text. `printf` is part of the shell, so the text may be longer than an argument. */
function printCommand(text: string): string {
  if (text.search(hidden) === -1) return `printf '%s' ${quote(text)}`;
  return `printf '%b' ${quote(text.replaceAll('\\', '\\\\').replaceAll(hidden, octal))}`;
}

/**
 * A command line for `sh`, `bash` and `zsh` that sends exactly this request, as the worker does, and prints the response.
 *
 * @param request `headers`: names and values. Those that curl computes are left out
 */
export function curlCommand({
  url,
  headers,
  body,
}: {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}): string {
  const ours = headers.filter(([name]) => !/^(?:host|content-length|connection)$/i.test(name));
  const options = [
    '--silent --show-error --include',
    '--max-time 5',
    // Without it, curl reads [] and {} in the URL as patterns.
    '--globoff',
    '--request POST',
    ...ours.map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    // Those that only curl sends.
    `--header 'Accept:'`,
    `--header 'Expect:'`,
    '--data-binary @-',
    `--url ${quote(url)}`,
  ];
  return `${printCommand(body)} |\n  curl ${options.join(' \\\n    ')}`;
}
