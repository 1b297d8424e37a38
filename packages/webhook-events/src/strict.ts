import { z } from 'zod';

/**
 * Returns the same schema with every object closed. Receivers must accept unknown fields; the producer must not send any,
 * so that an unpublished field cannot leak.
 *
 * @throws {TypeError} when the schema contains a kind that is not handled below.
 */
export function strict(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    return z.strictObject(Object.fromEntries(Object.entries(schema.shape).map(([key, value]) => [key, strict(value)])));
  }
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap()).nullable();
  if (schema instanceof z.ZodString || schema instanceof z.ZodISODateTime || schema instanceof z.ZodLiteral)
    return schema;
  // Any other kind could contain an open object.
  throw new TypeError(`strict() does not support ${schema.constructor.name}. Add a case for it.`);
}
