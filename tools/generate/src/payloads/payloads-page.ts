import { payloadFields } from '@deedwire/core/payload-fields';
import { z } from 'zod';
import { code, table } from '../reference/markdown.ts';
import { isBreakingChange, payloadChanges } from './payload-changes.ts';
import { publishedSchema, typedSchema } from './payload-schema.ts';
import { supportedKinds } from './supported-kinds.ts';
import { typeOfSchema } from './type-of-schema.ts';

/** What a payload can have, with its type and its description in the reference. */
export async function kindTable(): Promise<string> {
  const rows = await Promise.all(
    supportedKinds.map(async (kind) => {
      const body = z.object({ field: kind.schema }).meta({ title: 'Row' });
      const [field] = payloadFields(publishedSchema(body, ''));
      return [code(kind.code), code(await typeOf(body)), `${field?.type}${field?.isNullable ? ', can be null' : ''}`];
    }),
  );
  return table(['in the contract', 'in TypeScript', 'in the reference'], rows, { isLastPadded: true });
}

async function typeOf(body: z.ZodType): Promise<string> {
  const source = await typeOfSchema(typedSchema(body));
  const [, type = ''] = /\{(.*)\}/s.exec(source) ?? [];
  return type
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/;$/, '');
}

export function changeTable(): string {
  const rows = payloadChanges.map((change) => [
    change.what,
    isBreakingChange(change) ? 'a new version' : 'the same version',
  ]);
  return table(['change', 'possible in'], rows, { isLastPadded: true });
}
