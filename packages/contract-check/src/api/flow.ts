import type { ApiDeclaration } from './api-report.ts';
import { namesIn, parseSignature } from './signature.ts';

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
  const pending: { declaration: ApiDeclaration; isReceived: boolean }[] = [];

  function reach(name: string, isReceived: boolean): void {
    const reached = isReceived ? received : passed;
    const declaration = declarations.get(name);
    if (declaration === undefined || reached.has(name)) return;
    reached.add(name);
    pending.push({ declaration, isReceived });
  }

  for (const [name, { kind }] of declarations)
    if (['class', 'enum', 'function', 'value'].includes(kind)) reach(name, true);
  // Appended to during the loop.
  for (const { declaration, isReceived } of pending)
    for (const { text, isFlipped } of namesOf(declaration))
      for (const each of named.get(text) ?? []) reach(each, isReceived !== isFlipped);
  return { passed: new Set([...passed].filter((name) => !received.has(name))), received };
}

/** The names in the texts of a declaration. */
export function namesOf({ signature, members, union }: ApiDeclaration): ReturnType<typeof namesIn> {
  const texts = [signature, ...union, ...Array.from(members.values(), (member) => member.signature)];
  return texts.flatMap((text) => {
    const { parts, typeParameters } = parseSignature(text);
    return [...parts, ...typeParameters].flatMap((part) => namesIn(part));
  });
}
