import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { format } from 'oxfmt';
import { banner } from '../generated.ts';

/** The type of a JSON Schema with a title. */
export async function typeOfSchema(schema: JSONSchema): Promise<string> {
  const text = await compile(schema, 'unused: the schema has a title', {
    // No index signature, so that the compiler reports a misspelled field.
    additionalProperties: false,
    bannerComment: banner.trim(),
    // `string[]`, which zod returns, and no tuple for each length.
    ignoreMinAndMaxItems: true,
    format: false,
  });
  const { code } = await format('type.ts', text, { singleQuote: true, printWidth: 120 });
  return code;
}
