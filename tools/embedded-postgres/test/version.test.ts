import { expect, inject, test } from 'vitest';
import { withClient } from '../src/database.ts';
import { findBinaries, majorVersion } from '../src/server-process.ts';

test.skipIf(process.env['TEST_DATABASE_URL'])('the server of the tests has the version of the programs', async () => {
  const major = await majorVersion(await findBinaries());
  await withClient(inject('postgres').url, async (client) => {
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`);
    expect(rows[0]?.version).toMatch(new RegExp(`^${major}\\.`));
  });
});
