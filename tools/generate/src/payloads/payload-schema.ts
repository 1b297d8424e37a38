import type { PayloadSchema } from '@deedwire/core/payload-fields';
import type { JSONSchema } from 'json-schema-to-typescript';
import { z } from 'zod';
import { notice } from '../generated.ts';

type Override = (node: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) => void;

/**
 * The published JSON Schema of a body.
 *
 * @param source path of the contract in its package
 */
export function publishedSchema(body: z.ZodType, source: string): PayloadSchema {
  const { $schema, description, ...schema } = jsonSchemaOf(body, () => {});
  return { $schema, $comment: `${notice} The source is ${source}.`, description, ...schema };
}

/** The JSON Schema from which the TypeScript type of a body is generated: the type of what the zod schema returns. */
export function typedSchema(body: z.ZodType): JSONSchema {
  return jsonSchemaOf(body, ({ zodSchema, jsonSchema }) => {
    // A body from JSON has no member that is undefined. A renderer may return one of `.optional()`, but none of `.exactOptional()`.
    if (!(zodSchema instanceof z.ZodOptional)) return;
    const { description: _, ...value } = jsonSchema;
    for (const keyword of Object.keys(value)) delete jsonSchema[keyword];
    jsonSchema.anyOf = [value, { tsType: 'undefined' }];
  });
}

function jsonSchemaOf(body: z.ZodType, override: Override) {
  const schema = z.toJSONSchema(body, {
    io: 'input',
    target: 'draft-2020-12',
    override: (node) => {
      // zod adds a regular expression to each `format`, which changes between its releases.
      if (node.jsonSchema.format !== undefined) delete node.jsonSchema.pattern;
      override(node);
    },
  });
  return JSON.parse(JSON.stringify(schema));
}
