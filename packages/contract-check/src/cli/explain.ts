import type { Rule, RuleTable } from '../change.ts';
import type { DirectedRule } from '../json-schema/rules.ts';
import { ruleTables, rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import { UsageError } from './options.ts';
import { examplesOf, type RuleExample } from './rule-examples.ts';

/** The kinds of contracts, in the order of the list. */
const kinds: readonly { readonly table: RuleTable; readonly title: string }[] = [
  { table: 'graphql', title: 'GraphQL' },
  { table: 'json-schema', title: 'JSON Schema' },
  { table: 'manifest', title: 'Manifest' },
  { table: 'api', title: 'API report' },
  { table: 'append-only', title: 'Append-only file' },
  { table: 'version', title: 'Versions of a package' },
];

const allRules = kinds.flatMap((kind) => ruleTables[kind.table].map((rule) => ({ ...kind, rule })));

/** Every rule with its verdict, by kind of contract. */
export function listRules(): string {
  const idWidth = Math.max(...allRules.map(({ rule }) => rule.id.length));
  const verdictWidth = Math.max(...allRules.map(({ rule }) => verdictOf(rule).length));
  const lineOf = (rule: Rule | DirectedRule): string =>
    `  ${rule.id.padEnd(idWidth)}  ${verdictOf(rule).padEnd(verdictWidth)}  ${rule.what}`;
  const sections = kinds.map(({ table, title }) => {
    const isDirected = ruleTables[table].some((rule) => 'producer' in rule);
    return [isDirected ? `${title} (producer / consumer)` : title, ...ruleTables[table].map(lineOf)].join('\n');
  });
  return sections.join('\n\n');
}

function verdictOf(rule: Rule | DirectedRule): string {
  return 'verdict' in rule ? rule.verdict : `${rule.producer.verdict} / ${rule.consumer.verdict}`;
}

/**
 * A page about a rule in Markdown: what it covers, its verdict and why, examples, and how to change it.
 *
 * @throws {UsageError} when there is no such rule.
 */
export function explainRule(id: string): string {
  const found = allRules.find(({ rule }) => rule.id === id);
  if (found === undefined) {
    // An id without the kind of contract can be that of several rules.
    const nameOf = (each: string): string => (id.includes('/') ? each : each.slice(each.indexOf('/') + 1));
    throw new UsageError('explain', `unknown rule ${JSON.stringify(id)}${didYouMean(id, rulesById.keys(), nameOf)}`);
  }
  const { table, title, rule } = found;
  const examples = examplesOf(id);
  return [
    `# ${id}`,
    `${title}: ${rule.what}.`,
    ...reasonsOf(rule),
    ...(examples.length === 0 ? [] : ['## Examples']),
    ...examples.flatMap((example) => exampleOf(table, example)),
    '## Change the verdict',
    ...remedyOf(table, id),
  ].join('\n\n');
}

function reasonsOf(rule: Rule | DirectedRule): string[] {
  if ('verdict' in rule) return [`**${rule.verdict}**: ${rule.why}`];
  return [
    `You send what the schema describes (producer): **${rule.producer.verdict}**. ${rule.producer.why}`,
    `You accept what the schema describes (consumer): **${rule.consumer.verdict}**. ${rule.consumer.why}`,
  ];
}

function exampleOf(table: RuleTable, example: RuleExample): string[] {
  const block = (value: unknown): string =>
    [`\`\`\`${table === 'graphql' ? 'graphql' : 'json'}`, print(value), '```'].join('\n');
  return [
    `### ${example.what}`,
    [example.reason, ...settingsOf(example)].join(' '),
    'Old:',
    block(example.from),
    'New:',
    block(example.to),
  ];
}

function print(value: unknown): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value, null, 2);
}

function settingsOf({ closedOutputs, directives, existing }: RuleExample): string[] {
  return [
    ...(closedOutputs === true ? ['With `--closed-outputs`.'] : []),
    ...Object.entries(directives ?? {}).map(([name, verdict]) => `With \`--directive ${name}=${verdict}\`.`),
    ...(existing === undefined ? [] : [`The old schema contains these coordinates: ${existing.join(', ') || 'none'}.`]),
  ];
}

function remedyOf(table: RuleTable, id: string): string[] {
  if (table === 'version') {
    return [
      'The configuration cannot change this verdict. List a necessary exception in `contract-exceptions.json`, with a reason, an expiry and an approver.',
    ];
  }
  const override = {
    rule: id,
    coordinate: 'THE.COORDINATE',
    verdict: 'minor',
    reason: 'Why your clients are not affected.',
  };
  return [
    'Add an override to `contract-check.json`. Every run reports it with its reason.',
    ['```json', JSON.stringify({ overrides: [override] }, null, 2), '```'].join('\n'),
  ];
}
