-- Serves `deedwire-operator account list --organization`. Few rows, and only operators insert accounts: no app waits for the lock.
create index account_by_organization on account (organization_id, id);
