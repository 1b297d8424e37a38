import { testService } from '@deedwire/core/test-service';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { findOtherNamespace, groupRolesOf, migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const database = await forFile(createServiceDatabase());
const owner = await forFile(connect(database.databaseUrl));
const stored = () => owner.run('select gid_namespace from installation');

beforeEach(async () => {
  await owner.run('update installation set gid_namespace = null');
});

test('a migration stores the namespace of the service, or that of the installation, once', async () => {
  await migrate(database.databaseUrl, testService);
  expect(await stored()).toEqual([{ gid_namespace: 'service' }]);
  await owner.run('update installation set gid_namespace = null');
  await migrate(database.databaseUrl, testService, { gidNamespace: 'shop' });
  expect(await stored()).toEqual([{ gid_namespace: 'shop' }]);
  await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(
    'The global identifiers of the database begin with gid://shop/ and cannot change, and this process has the namespace service; set GID_NAMESPACE=shop',
  );
  expect(await stored()).toEqual([{ gid_namespace: 'shop' }]);
});

test.each(groupRolesOf(testService))('%s finds that its process has another namespace', async (role) => {
  const url = await database.urlFor(role);
  const problems = (namespace: string) => withStore(url, (store) => findOtherNamespace(store, namespace));
  expect(await problems('shop')).toEqual([]);
  await migrate(database.databaseUrl, testService, { gidNamespace: 'shop' });
  expect(await problems('shop')).toEqual([]);
  expect(await problems('service')).toEqual([expect.stringContaining('set GID_NAMESPACE=shop')]);
});
