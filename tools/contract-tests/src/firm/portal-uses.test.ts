import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InterfaceVersion } from '@deedwire/core';
import { firm, interfaceNames } from '@deedwire/firm';
import { missing } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { succeed } from '../../test/support/command.ts';
import { workspaceRoot } from '../../test/support/workspace-copy.ts';

// The portal is a consumer of each interface, as docs/operations/upgrade.md shows.

const { documents } = JSON.parse(readFileSync(join(workspaceRoot, 'packages/portal/generated/documents.json'), 'utf8'));

function nameOf(text: unknown): string {
  return /^\w+ (\w+)/.exec(String(text))?.[1] ?? '';
}

test.each(interfaceNames)(
  '`contract-check uses` covers each document of the portal at the %s interface',
  async (name) => {
    const versions: readonly InterfaceVersion[] = firm.interfaces[name].versions;
    const { version } = versions.findLast(({ status }) => status === 'current') ?? missing();
    const folder = mkdtempSync(join(tmpdir(), 'portal-uses-'));
    const output = join(folder, 'uses.json');
    const schema = `packages/${name}-schema/versions/${version}.graphql`;
    const args = ['uses', '--consumer', 'portal', '--schema', schema, '--output', output];
    const command = ['--conditions=deedwire-source', 'packages/contract-check/src/bin.ts', ...args];
    await succeed(process.execPath, [...command, '--documents', 'packages/portal/src/documents/*.graphql'], {
      cwd: workspaceRoot,
    });
    const uses = JSON.parse(readFileSync(output, 'utf8'));
    rmSync(folder, { recursive: true });
    expect(uses).toMatchObject({ pin: version, schema: [{ package: `@deedwire/${name}-schema` }] });
    expect(uses.operations.map((each: { name: string }) => each.name).toSorted()).toEqual(
      Object.values(documents).map(nameOf).toSorted(),
    );
    expect(uses.coordinates).toMatchObject({ 'Query.webhookDeliveries': expect.stringMatching(/!$/) });
  },
);
