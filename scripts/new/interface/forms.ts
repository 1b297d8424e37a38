/** The name of an interface as each language writes it. */
export interface Forms {
  kebab: string;
  snake: string;
  camel: string;
  pascal: string;
  /** In sentences. */
  words: string;
  account: string;
  path: string;
}

export function formsOf(name: string, account: string, path: string): Forms {
  const camel = name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const pascal = camel.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return {
    kebab: name,
    snake: name.replaceAll('-', '_'),
    camel,
    pascal,
    words: name.replaceAll('-', ' '),
    account,
    path,
  };
}

/** Puts the forms of the new name, which can contain the other one, where a copied file has those of another interface. */
export function rename(copied: string, from: Forms, own: Forms): string {
  const { kebab, snake, camel, pascal, words, account, path } = from;
  const forms: [pattern: string, replacement: string][] = [
    [`${path}(?=/)`, own.path],
    [`\\b${account}\\b`, own.account],
    [`${pascal}(?=[A-Z])`, own.pascal],
    [`\\b${kebab}(?=-(?:api|schema|interface))`, own.kebab],
    [`\\b${camel}(?=[A-Z])`, own.camel],
    [`(?<=\\{ )${camel}(?= \\})|\\b${camel}(?=\\.(?:id|name)\\b)`, own.camel],
    [`\\b${snake}(?=\\.updated|_api)`, own.snake],
    [`(?<=['"])${kebab}(?=['"])`, own.kebab],
    [`\\b${words}\\b`, own.words],
  ];
  const any = new RegExp(forms.map(([pattern]) => `(${pattern})`).join('|'), 'g');
  return copied.replaceAll(any, (...found) => forms[found.slice(1).findIndex((form) => form !== undefined)]?.[1] ?? '');
}

export function renamePath(path: string, from: Forms, own: Forms): string {
  return path
    .replaceAll(`${from.kebab}-`, `${own.kebab}-`)
    .replace(`${from.snake}.updated`, `${own.snake}.updated`)
    .replace(/\d{4}-\d\d-\d\d(?=[./])/, () => new Date().toISOString().slice(0, 10));
}
