import type { GraphqlContract } from './contract.ts';

/** Whether a coordinate exists in a schema: `Type`, `Type.field`, `Type.VALUE` or `Type.field(argument:)`. */
export function hasCoordinate(contract: GraphqlContract, coordinate: string): boolean {
  const [, typeName = '', member, argument] = /^(\w+)(?:\.(\w+)(?:\((\w+):\))?)?$/.exec(coordinate) ?? [];
  const type = contract.types.get(typeName);
  if (type === undefined || member === undefined) return type !== undefined;
  if (argument !== undefined) return type.fields.get(member)?.args.has(argument) ?? false;
  return type.fields.has(member) || type.inputFields.has(member) || type.values.has(member);
}
