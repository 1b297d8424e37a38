import { Ajv2020 } from 'ajv/dist/2020.js';
import { compareJsonSchemas } from '../../src/json-schema/compare-json-schema.ts';
import { evaluating, randomSchema, randomValue, variantOf, type Json, type Schema } from './random-schema.ts';
import { Random } from './random.ts';

/*
 * Compares the verdicts for generated schemas with a validator. A verdict is too small if it is not major although a value
 * becomes invalid for those who rely on it. Changes that are not major only because outputs and objects are open are
 * excluded. A verdict is too large if it is major although no generated value is affected, which proves nothing: another
 * value may be. Its rate is printed so that a change of the rules shows its effect.
 */

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

function judgeFamily(random: Random, judged: Judged, vocabulary?: typeof evaluating): void {
  const base = randomSchema(random, 3, vocabulary);
  const variants = random.list(schemasPerFamily - 1, schemasPerFamily - 1, () =>
    variantOf(base, random, 3, vocabulary),
  );
  const values = random.list(valuesPerFamily, valuesPerFamily, () => randomValue(random));
  const family = [base, ...variants].flatMap((schema) => {
    const valid = validityOf(values, schema);
    return valid === null ? [] : [{ schema, valid }];
  });
  for (const from of family) {
    for (const to of family) {
      if (from === to) continue;
      judged.pairs += 1;
      for (const direction of ['producer', 'consumer'] as const) {
        const { verdict, changes } = compareJsonSchemas(source(from.schema), source(to.schema), { direction });
        const [sent, expected] = direction === 'consumer' ? [from, to] : [to, from];
        const at = values.findIndex((_, index) => sent.valid[index] === true && expected.valid[index] === false);
        judged.judged += 1;
        if (verdict === 'major') {
          judged.majors += 1;
          if (at === -1) judged.tooLarge += 1;
        } else if (at !== -1 && !changes.some(({ message }) => open.test(message))) {
          const parts = { direction, verdict, from: from.schema, to: to.schema, value: values[at] };
          judged.tooSmall.push(JSON.stringify(parts));
        }
      }
    }
  }
}

/** Null for the few schemas for which the code that Ajv generates for evaluated properties throws an error. */
function validityOf(values: readonly Json[], schema: Schema): boolean[] | null {
  try {
    const validate = new Ajv2020({ strict: false, validateSchema: false }).compile(schema);
    return values.map((value) => validate(value));
  } catch {
    return null;
  }
}

function source(schema: Schema) {
  return { file: 'schema', text: JSON.stringify(schema) };
}

/**
 * Judges the verdicts for about 130 pairs of schemas in each family, and prints the rates.
 *
 * @returns the number of pairs, and the shortest cases whose verdict is too small
 */
export function judgeVerdicts(seed: number, families: number): { pairs: number; tooSmall: readonly string[] } {
  const judged: Judged = { pairs: 0, judged: 0, majors: 0, tooLarge: 0, tooSmall: [] };
  const random = new Random(seed);
  for (let family = 0; family < families; family += 1)
    judgeFamily(random, judged, family % 4 === 0 ? evaluating : undefined);
  const rate = ((100 * judged.tooLarge) / judged.majors).toFixed(1);
  process.stdout.write(
    `Seed ${seed}: ${judged.pairs} pairs, ${judged.tooSmall.length} verdicts too small, ` +
      `${judged.majors} of ${judged.judged} verdicts major, ${rate} % of them without an affected value.\n`,
  );
  const { pairs, tooSmall } = judged;
  return { pairs, tooSmall: tooSmall.toSorted((a, b) => a.length - b.length).slice(0, maxListed) };
}
