import type { SignedRequest } from '@deedwire/actions';

/** Quotes a text for `sh`, `bash` and `zsh`. Every character stays as it is, also a line feed. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// They could change what a terminal shows, or be lost when somebody copies the command. A line feed shows itself.
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A command that prints the text. `printf` is part of the shell, so the text may be longer than an argument. */
function printCommand(text: string): string {
  if (!invisible.test(text)) return `printf '%s' ${quote(text)}`;
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll(new RegExp(invisible, 'gu'), (character) =>
      [...Buffer.from(character)].map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join(''),
    );
  return `printf '%b' ${quote(escaped)}`;
}

/** A command line for `sh`, `bash` and `zsh` that sends exactly this request, as the worker does, and prints the response. */
export function curlCommand({ url, headers, body }: Pick<SignedRequest, 'body' | 'headers' | 'url'>): string {
  const options = [
    '--silent --show-error --include',
    '--max-time 5',
    // Without it, curl reads [] and {} in the URL as patterns.
    '--globoff',
    '--request POST',
    ...headers.map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    // Those that only curl sends.
    `--header 'Accept:'`,
    `--header 'Expect:'`,
    '--data-binary @-',
    `--url ${quote(url)}`,
  ];
  return `${printCommand(body)} |\n  curl ${options.join(' \\\n    ')}`;
}
