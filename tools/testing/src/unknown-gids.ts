/** Ids that identify no record of the type, as `[description, id]`. */
export const unknownGids = (typeName: string): [string, string][] => [
  ['with an unknown id', `gid://service/${typeName}/9223372036854775807`],
  ['with the id of another type', 'gid://service/Matter/1'],
  ['with an id of another namespace', `gid://elsewhere/${typeName}/1`],
  ['with an id that is too large', `gid://service/${typeName}/99999999999999999999`],
  ['with a malformed id', "'; drop table webhook_subscription; --"],
  ['with an empty id', ''],
];
