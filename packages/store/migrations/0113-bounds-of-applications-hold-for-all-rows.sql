-- Validates what 0111 has added. Readers and writers go on meanwhile.

alter table installation validate constraint installation_gid_namespace_bounds;
alter table installation validate constraint installation_api_key_prefix_bounds;
alter table interface validate constraint interface_client_version_bounds;
alter table account validate constraint account_external_id_bounds;
