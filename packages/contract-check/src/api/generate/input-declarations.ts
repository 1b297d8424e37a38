import type TS from '@typescript/typescript6';
import { ts } from './compiler.ts';

/** The declarations whose values a caller passes: what parameters and constraints of type parameters refer to. */
export function inputDeclarations(
  declarations: ReadonlyMap<string, readonly TS.Declaration[]>,
  nameOf: (identifier: TS.Identifier) => string | undefined,
): Set<string> {
  const inputs = new Set<string>();
  const pending: string[] = [];

  function reach(node: TS.Node): void {
    const name = ts.isIdentifier(node) ? nameOf(node) : undefined;
    if (name !== undefined && !inputs.has(name)) {
      inputs.add(name);
      pending.push(name);
    }
    ts.forEachChild(node, reach);
  }

  function findParameters(node: TS.Node): void {
    if (ts.isParameter(node)) {
      if (node.type !== undefined) reach(node.type);
      return;
    }
    // Callers choose a type that fits the constraint: `<T extends Options>`. `keyof Options` only names its members.
    if (ts.isTypeParameterDeclaration(node) && node.constraint !== undefined && !ts.isTypeOperatorNode(node.constraint))
      reach(node.constraint);
    ts.forEachChild(node, findParameters);
  }

  for (const declared of declarations.values()) for (const each of declared) findParameters(each);
  // Appended to during the loop.
  for (const name of pending) for (const each of declarations.get(name) ?? []) ts.forEachChild(each, reach);
  return inputs;
}
