import { Ajv } from 'ajv';
import { compareJsonSchemas } from '../../src/json-schema/compare-json-schema.ts';
import { isSchema, randomSchema, randomValue, variantOf, type Json, type Schema } from './random-schema.ts';
import { Random } from './random.ts';

/*
 * Compares the verdicts for generated schemas with a validator. A verdict is too small if it is not major although a value
 * becomes invalid for those who rely on it. Changes that are not major only because outputs and objects are open are
 * excluded. A verdict is too large if it is major although no generated value is affected, which proves nothing: another
 * value may be. Its rate is printed so that a change of the rules shows its effect.
 */

const familiesPerSeed = 40;
const schemasPerFamily = 12;
const valuesPerFamily = 120;

const open = /^The property was added\.$|^The values? .+ (?:was|were) added\.$/;
const maxListed = 5;

interface Judged {
  pairs: number;
  judged: number;
  majors: number;
  tooLarge: number;
  tooSmall: string[];
}

function judgeFamily(random: Random, judged: Judged): void {
  const ajv = new Ajv({ strict: false, validateSchema: false, next: true });
  const base = randomSchema(random, 3);
  const family = [base, ...random.list(schemasPerFamily - 1, schemasPerFamily - 1, () => variantOf(base, random, 3))];
  const values = random.list(valuesPerFamily, valuesPerFamily, () => randomValue(random));
  const valid = family.map((schema) => {
    const validate = ajv.compile(inDraft7(schema));
    return values.map((value) => validate(value));
  });
  for (const [i, from] of family.entries()) {
    for (const [j, to] of family.entries()) {
      if (i === j) continue;
      judged.pairs += 1;
      for (const direction of ['producer', 'consumer'] as const) {
        const { verdict, changes } = compareJsonSchemas(source(from), source(to), { direction });
        const [sent, expected] = direction === 'consumer' ? [i, j] : [j, i];
        const at = values.findIndex((_, index) => valid[sent]?.[index] === true && valid[expected]?.[index] === false);
        judged.judged += 1;
        if (verdict === 'major') {
          judged.majors += 1;
          if (at === -1) judged.tooLarge += 1;
        } else if (at !== -1 && !changes.some(({ message }) => open.test(message))) {
          const parts = { direction, verdict, from, to, value: values[at] };
          judged.tooSmall.push(JSON.stringify(parts));
        }
      }
    }
  }
}

/** In draft 7, with which Ajv does not track evaluated properties: for some schemas its code for that fails. */
function inDraft7(schema: Schema): Schema {
  if (typeof schema === 'boolean') return schema;
  const { prefixItems, items, ...rest } = schema;
  const converted = Object.entries(rest).map(([key, member]) => [key, convertInner(member)] as const);
  const list = prefixItems === undefined ? items : prefixItems;
  const others = prefixItems === undefined ? undefined : items;
  return {
    ...Object.fromEntries(converted),
    ...(list === undefined ? {} : { items: convertInner(list) }),
    ...(others === undefined ? {} : { additionalItems: convertInner(others) }),
  };
}

function convertInner(value: Json): Json {
  if (Array.isArray(value)) return value.map(convertInner);
  return isSchema(value) ? inDraft7(value) : value;
}

function source(schema: Schema) {
  return { file: 'schema', text: JSON.stringify(schema) };
}

/**
 * Judges the verdicts for about 5,000 pairs of schemas, and prints the rates.
 *
 * @returns the number of pairs, and the shortest cases whose verdict is too small
 */
export function judgeVerdicts(seed: number): { pairs: number; tooSmall: readonly string[] } {
  const judged: Judged = { pairs: 0, judged: 0, majors: 0, tooLarge: 0, tooSmall: [] };
  const random = new Random(seed);
  for (let family = 0; family < familiesPerSeed; family += 1) judgeFamily(random, judged);
  const rate = ((100 * judged.tooLarge) / judged.majors).toFixed(1);
  process.stdout.write(
    `Seed ${seed}: ${judged.pairs} pairs, ${judged.tooSmall.length} verdicts too small, ` +
      `${judged.majors} of ${judged.judged} verdicts major, ${rate} % of them without an affected value.\n`,
  );
  const { pairs, tooSmall } = judged;
  return { pairs, tooSmall: tooSmall.toSorted((a, b) => a.length - b.length).slice(0, maxListed) };
}
