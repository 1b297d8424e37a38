import { z } from 'zod';

/**
 * The same schema with every object closed. Payloads are open for their receivers; what we send ourselves holds exactly
 * the published fields, so that nothing leaves by accident.
 */
export function strict(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    return z.strictObject(Object.fromEntries(Object.entries(schema.shape).map(([key, value]) => [key, strict(value)])));
  }
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap()).nullable();
  if (schema instanceof z.ZodString || schema instanceof z.ZodISODateTime || schema instanceof z.ZodLiteral)
    return schema;
  // A kind that could hide an open object inside must be taught here first.
  throw new TypeError(`no strict form of ${schema.constructor.name}`);
}
