import type { ApiDeclaration } from './api-report.ts';
import { isName, overloadsOf, type Tokens } from './signature-tokens.ts';

/** How values of the declarations reach callers. */
export interface Flow {
  /** The names of the declarations whose values callers pass and never receive. */
  readonly passed: ReadonlySet<string>;
  /** Those whose values callers receive. */
  readonly received: ReadonlySet<string>;
}

/**
 * Follows values through signatures. Exported values and results of functions reach the caller. A parameter list changes the
 * direction, and one inside it changes it again: callers receive the arguments of their own functions.
 */
export function flowOf(declarations: ReadonlyMap<string, ApiDeclaration>): Flow {
  // `Options` in a signature can be `first.Options` or `second.Options`, of two files.
  const named = Map.groupBy(declarations.keys(), (name) => name.slice(name.lastIndexOf('.') + 1));
  const received = new Set<string>();
  const passed = new Set<string>();
  const pending: { name: string; isReceived: boolean }[] = [];

  function reach(name: string, isReceived: boolean): void {
    const reached = isReceived ? received : passed;
    if (reached.has(name)) return;
    reached.add(name);
    pending.push({ name, isReceived });
  }

  for (const [name, { kind }] of declarations)
    if (['class', 'enum', 'function', 'value'].includes(kind)) reach(name, true);
  // Appended to during the loop.
  for (const { name, isReceived } of pending) {
    for (const tokens of textsOf(declarations.get(name)).flatMap(overloadsOf)) {
      for (const { text, isFlipped } of namesIn(tokens))
        for (const each of named.get(text) ?? []) reach(each, isReceived !== isFlipped);
    }
  }
  return { passed: new Set([...passed].filter((name) => !received.has(name))), received };
}

/** The names in the texts of a declaration. */
export function namesOf(declaration: ApiDeclaration): Set<string> {
  return new Set(
    textsOf(declaration)
      .flatMap(overloadsOf)
      .flatMap(namesIn)
      .map(({ text }) => text),
  );
}

function textsOf(declaration: ApiDeclaration | undefined): string[] {
  if (declaration === undefined) return [];
  const { signature, members, union } = declaration;
  return [signature, ...union, ...Array.from(members.values(), (member) => member.signature)];
}

function namesIn({ texts, parameterLists }: Tokens): { text: string; isFlipped: boolean }[] {
  const lists = [...parameterLists];
  return texts.flatMap((text, index) => {
    if (!isName(text)) return [];
    const depth = lists.filter(([start, end]) => start < index && index < end).length;
    return [{ text, isFlipped: depth % 2 === 1 }];
  });
}
