import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { Kind, parse, print, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Report } from '../change.ts';
import { InputError } from '../input-error.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';
import { compareGraphql } from './compare-graphql.ts';

interface SingleCase {
  from: string;
  to: string;
  verdict: Verdict;
  closedOutputs?: boolean;
  directives?: object;
}

const allCases: SingleCase[] = JSON.parse(readFileSync(new URL('../corpus/graphql.json', import.meta.url), 'utf8'));

/** The cases that can be combined in one schema: neither about the whole schema nor about a directive known by name. */
const cases = allCases.filter(
  ({ from, to, closedOutputs, directives }) =>
    !/schema|Mutation|Subscription|@cost|@semanticNonNull/.test(from + to) &&
    closedOutputs === undefined &&
    directives === undefined,
);

function compare(from: string, to: string): Report {
  return compareGraphql({ file: 'from', text: from }, { file: 'to', text: to });
}

/** Renames the definitions of a case, so that several cases fit into one schema. */
function renameDefinitions(sdl: string, index: number): string {
  const document = parse(sdl);
  const own = new Set(document.definitions.flatMap((node) => ('name' in node ? [node.name?.value] : [])));
  const renamed = visit(document, {
    Name(node, _key, parent) {
      const isMember = parent !== undefined && 'kind' in parent && memberKinds.has(parent.kind);
      return own.has(node.value) && !isMember ? { ...node, value: `${node.value}_${index}` } : undefined;
    },
  });
  return print(renamed);
}

/** Nodes inside a type. Their names may equal the name of a type. */
const memberKinds: ReadonlySet<string> = new Set([
  Kind.FIELD_DEFINITION,
  Kind.INPUT_VALUE_DEFINITION,
  Kind.ENUM_VALUE_DEFINITION,
  Kind.ARGUMENT,
]);

/** Combines cases into one schema, each under a field of the query type. */
function combine(parts: readonly string[]): string {
  const fields = parts.map((_, i) => `part${i}: Query_${i}`).join(' ');
  return [`type Query { ${fields} }`, ...parts.map(renameDefinitions)].join('\n');
}

/** Of any code points. The unit `binary` of fast-check takes a second of CPU time to build. */
const anyText = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code)),
});

describe('GraphQL', () => {
  test('returns none for a schema and itself', () => {
    for (const { from, to } of allCases) {
      for (const each of [from, to]) {
        const { notices, ...rest } = compare(each, each);
        expect(rest).toEqual({ verdict: 'none', changes: [] });
        // A subgraph does not define the directives of Apollo Federation.
        expect(notices.filter(({ message }) => !message.startsWith('The schema does not define'))).toEqual([]);
      }
    }
  });

  test('never returns a smaller verdict for a combined change than for its parts', () => {
    const some = fc.uniqueArray(fc.constantFrom(...cases), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(some, (parts) => {
        const before = combine(parts.map(({ from }) => from));
        const composed = compare(before, combine(parts.map(({ to }) => to))).verdict;
        for (const [i, part] of parts.entries()) {
          const single = compare(before, combine(parts.map(({ from, to }, j) => (i === j ? to : from)))).verdict;
          expect([single, part.from]).toEqual([part.verdict, part.from]);
          expect(compareVerdicts(composed, single)).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: Number(process.env['RUNS'] ?? 30) },
    );
  });

  test('returns a report or throws an InputError that names the file, for any text', () => {
    const words = fc.constantFrom(...cases.flatMap(({ from, to }) => [...from.split(/\b/), ...to.split(/\b/)]));
    const broken = fc
      .tuple(fc.constantFrom(...cases), fc.nat(), fc.nat(20), words)
      .map(([{ from }, at, length, word]) => {
        const start = at % from.length;
        return from.slice(0, start) + word + from.slice(start + length);
      });
    fc.assert(
      fc.property(fc.oneof(broken, fc.string(), anyText), broken, (from, to) => {
        let message = '';
        try {
          compare(from, to);
        } catch (error) {
          message = error instanceof InputError ? error.message : `not an InputError: ${String(error)}`;
        }
        expect(message).toMatch(/^$|^(?:from|to):/);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 100) },
    );
  });
});
