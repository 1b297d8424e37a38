interface Header {
  readonly name: string;
  readonly value: string;
}

// Copying could lose them. `printf %b` gets them as bytes.
const hidden = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function octal(character: string): string {
  return Array.from(new TextEncoder().encode(character), (byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('');
}

/** A command for `sh`, `bash` and `zsh` that sends the request of an attempt again. */
export function curlOf(url: string, headers: readonly Header[], body: string): string {
  const isPlain = body.search(hidden) === -1;
  const text = isPlain ? body : body.replaceAll('\\', '\\\\').replaceAll(hidden, octal);
  const options = [
    '--silent --show-error --include --max-time 5 --globoff --request POST',
    ...headers
      // curl computes them.
      .filter(({ name }) => !/^(?:host|content-length|connection)$/i.test(name))
      .map(({ name, value }) => `--header ${quote(`${name}: ${value}`)}`),
    `--header 'Accept:' --header 'Expect:' --data-binary @-`,
    `--url ${quote(url)}`,
  ];
  return `printf '${isPlain ? '%s' : '%b'}' ${quote(text)} |\n  curl ${options.join(' \\\n    ')}`;
}
