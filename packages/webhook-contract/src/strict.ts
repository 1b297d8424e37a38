import * as z from 'zod';

/**
 * Returns the same schema with every object closed. Receivers must accept unknown fields; the producer must not send any,
 * so that an unpublished field cannot leak.
 *
 * @param path names the schema in the error, for example `referral.created at 2026-11-01: data`
 * @throws {TypeError} when the schema contains a kind that is not handled below. The message names the field.
 */
export function strict(schema: z.core.$ZodType, path: string): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape);
    return z.strictObject(Object.fromEntries(fields.map(([key, value]) => [key, strict(value, `${path}.${key}`)])));
  }
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap(), path).optional();
  if (schema instanceof z.ZodExactOptional) return strict(schema.unwrap(), path).exactOptional();
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap(), path).nullable();
  // With the limits of its length.
  if (schema instanceof z.ZodArray)
    return schema.clone({ ...schema.def, element: strict(schema.element, `${path}[]`) });
  if (schema instanceof z.ZodString || schema instanceof z.ZodUUID || schema instanceof z.ZodGUID) return schema;
  if (schema instanceof z.ZodISODateTime || schema instanceof z.ZodLiteral || schema instanceof z.ZodEnum)
    return schema;
  if (schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean) return schema;
  // Any other kind could contain an open object.
  throw new TypeError(
    `${path}: a payload cannot have ${schema.constructor.name}. docs/payloads.md lists what it can have.`,
  );
}
