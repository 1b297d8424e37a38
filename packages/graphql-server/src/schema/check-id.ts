import { InvalidArgumentError } from '@deedwire/actions';
import { type GidTypeName, isRecordGid, withArticles } from '@deedwire/core';
import type { OperationContext } from './operation-context.ts';

/** What a version does with an identifier before it looks for the record. `argument` is the path, for example `input.id`. */
export type CheckId = (
  context: OperationContext,
  /** The type of the record, or the types that the argument accepts. */
  typeName: GidTypeName | readonly GidTypeName[],
  argument: string,
  id: string,
) => void;

/** Version 2026-11-01 treats every other text like the identifier of a record that does not exist. */
export const acceptAnyId: CheckId = () => {};

/** Later versions reject it, because it is always a mistake of the client. */
export const requireIdOfType: CheckId = ({ actions }, typeName, argument, id) => {
  const types = typeof typeName === 'string' ? [typeName] : typeName;
  if (types.some((type) => isRecordGid(actions, type, id))) return;
  throw new InvalidArgumentError(
    `\`${argument}\` must be the global identifier of ${withArticles(types)}, such as "gid://${actions.gidNamespace}/${types[0]}/123"; ` +
      `it is ${JSON.stringify(id.slice(0, 60).toWellFormed())}.`,
  );
};
