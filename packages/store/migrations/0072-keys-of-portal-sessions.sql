-- Entries about links and sessions of the portal name the key that created the link.
do $do$
declare
  definition constant text := pg_get_functiondef('audit_portal_session'::regproc);
  old_text constant text := '''command'', left(claim ->> ''command'', 100)';
begin
  if cardinality(string_to_array(definition, old_text)) <> 2 then
    raise exception 'The function audit_portal_session is not that of an earlier migration.';
  end if;
  execute replace(definition, old_text, '''keyId'', new.key_id, ' || old_text);
end
$do$;
