import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Report } from './change.ts';
import { compareGraphql } from './graphql/compare-graphql.ts';
import { graphqlRules } from './graphql/rules.ts';
import { compareJsonSchemas } from './json-schema/compare-json-schema.ts';
import { directions } from './json-schema/direction.ts';
import { jsonSchemaRules } from './json-schema/rules.ts';
import { compareManifests } from './manifest/compare-manifests.ts';
import { manifestRules } from './manifest/rules.ts';
import { largerVerdict, type Verdict } from './verdict.ts';

interface Case {
  /** The rule that the case covers. Omitted if the report is empty. */
  rule?: string;
  what: string;
  reason: string;
  closedOutputs?: boolean;
}
interface GraphqlCase extends Case {
  from: string;
  to: string;
  verdict: Verdict;
  directives?: Record<string, Verdict>;
}
interface JsonSchemaCase extends Case {
  from: unknown;
  to: unknown;
  producer: Verdict;
  consumer: Verdict;
}
interface ManifestCase extends Case {
  from: unknown;
  to: unknown;
  verdict: Verdict;
  /** The coordinates that existed. Omitted if all did. */
  existing?: string[];
}

/** The expected verdict of a case in one direction, and its report. */
interface CaseResult {
  name: string;
  expected: Verdict;
  why: string | undefined;
  report: Report;
}

function readCorpus<T>(name: string): T[] {
  const cases: T[] = JSON.parse(readFileSync(new URL(`./corpus/${name}.json`, import.meta.url), 'utf8'));
  return cases;
}

const asText = (file: string, value: unknown) => ({ file, text: JSON.stringify(value) });

const graphqlCases = readCorpus<GraphqlCase>('graphql');
const jsonSchemaCases = readCorpus<JsonSchemaCase>('json-schema');
const manifestCases = readCorpus<ManifestCase>('manifest');

const graphqlResults = graphqlCases.map(
  ({ what, verdict, rule, from, to, closedOutputs = false, directives = {} }) => ({
    name: what,
    expected: verdict,
    why: ruleNamed(graphqlRules, rule)?.why,
    report: compareGraphql({ file: 'from', text: from }, { file: 'to', text: to }, { closedOutputs, directives }),
  }),
);

const jsonSchemaResults = jsonSchemaCases.flatMap((each) =>
  directions.map((direction): CaseResult => {
    const rule = ruleNamed(jsonSchemaRules, each.rule);
    return {
      name: `${each.what} (${direction})`,
      expected: direction === 'both' ? largerVerdict(each.producer, each.consumer) : each[direction],
      why: direction === 'both' ? undefined : rule?.[direction].why,
      report: compareJsonSchemas(asText('from', each.from), asText('to', each.to), {
        direction,
        closedOutputs: each.closedOutputs ?? false,
      }),
    };
  }),
);

const manifestResults = manifestCases.map(({ what, verdict, rule, from, to, existing }) => ({
  name: what,
  expected: verdict,
  why: ruleNamed(manifestRules, rule)?.why,
  report: compareManifests(asText('from', from), asText('to', to), {
    existed: (coordinate) => existing?.includes(coordinate) ?? true,
  }),
}));

function ruleNamed<T>(rules: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  if (name === undefined) return undefined;
  const rule = rules[name];
  if (rule === undefined) throw new Error(`The corpus names the unknown rule ${name}.`);
  return rule;
}

function rulesOf(cases: Case[]): Set<string | undefined> {
  return new Set(cases.map(({ rule }) => rule));
}

describe.each([
  ['graphql', graphqlResults],
  ['json-schema', jsonSchemaResults],
  ['manifest', manifestResults],
])('%s', (_, results) => {
  test.each(results)('$expected: $name', ({ expected, why, report }) => {
    expect({ verdict: report.verdict, changes: report.changes }).toMatchObject({ verdict: expected });
    expect(report.changes.length === 0).toBe(expected === 'none');
    expect(why === undefined || report.changes.some((change) => change.why === why)).toBe(true);
  });
});

test('every rule has a case in the corpus', () => {
  expect(Object.keys(graphqlRules).filter((rule) => !rulesOf(graphqlCases).has(rule))).toEqual([]);
  expect(Object.keys(jsonSchemaRules).filter((rule) => !rulesOf(jsonSchemaCases).has(rule))).toEqual([]);
  expect(Object.keys(manifestRules).filter((rule) => !rulesOf(manifestCases).has(rule))).toEqual([]);
});

test('every case has a reason, and no two cases are equal', () => {
  const all: Case[] = [...graphqlCases, ...jsonSchemaCases, ...manifestCases];
  expect(all.length).toBeGreaterThan(390);
  expect(all.filter(({ reason }) => reason.length < 5)).toEqual([]);
  const texts = all.map((each) => JSON.stringify({ ...each, what: '', reason: '', rule: '' }));
  expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([]);
});
