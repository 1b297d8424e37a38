/** Ids that identify no record of the type, as `[description, id]`. */
export const unknownGids = (typeName: string): [string, string][] => [
  ['that does not exist', `gid://service/${typeName}/9223372036854775807`],
  ['of another type', 'gid://service/Matter/1'],
  ['of another namespace', `gid://elsewhere/${typeName}/1`],
  ['too large', `gid://service/${typeName}/99999999999999999999`],
  ['malformed', "'; drop table webhook_subscription; --"],
  ['empty', ''],
];
