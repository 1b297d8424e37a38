-- The statements that own_table() advises name the schema of the table, which is not in the search path of everyone who runs them.
do $do$
declare
  definition constant text := pg_get_functiondef('own_table'::regproc);
  advised constant text := replace(
    definition, 'own.oid::regclass', $$concat(own.relnamespace::regnamespace, '.', quote_ident(own.relname))$$
  );
begin
  if advised = definition then
    raise exception 'The function own_table() is not the one that this migration changes.';
  end if;
  execute advised;
end
$do$;
