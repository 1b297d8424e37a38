type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The tables are in the schema `deedwire`, unless the environment says another one. Behind a transaction pooler, the login finds them: a
 * pooler does not pass on the schema.
 */
export function appEnvironment(env: Environment = process.env): Environment {
  const isPooled = env['DATABASE_PREPARED_STATEMENTS'] === 'off';
  return isPooled ? env : { DATABASE_SCHEMA: 'deedwire', ...env };
}
