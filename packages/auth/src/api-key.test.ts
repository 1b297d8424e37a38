import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { describe, expect, test } from 'vitest';
import { apiKeyPattern, generateApiKey, parseApiKey } from './api-key.ts';

/** Well formed, with a correct checksum, and never issued. */
const exampleApiKey = 'dw_supplier_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_1BJ2AP';

describe('API keys', () => {
  test('generates keys that parse, with the SHA-256 of the whole key as their hash', () => {
    for (const interfaceName of interfaceNames) {
      const { apiKey, keyId, keyHash } = generateApiKey(testService, interfaceName);
      expect(apiKey).toMatch(apiKeyPattern(testService));
      expect(parseApiKey(testService, apiKey)).toEqual({ interfaceName, keyId });
      expect(keyHash).toEqual(createHash('sha256').update(apiKey).digest());
    }
  });

  test('generates distinct keys', () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey(testService, 'supplier'));
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(200);
    expect(new Set(keys.map(({ apiKey }) => apiKey.split('_')[3])).size).toBe(200);
  });

  test('begin with the prefix of their service, and another does not parse them', () => {
    const other = { names: { ...testService.names, apiKeyPrefix: 'other' } };
    const { apiKey, keyId } = generateApiKey(other, 'supplier');
    expect(apiKey).toMatch(/^other_supplier_/);
    expect(parseApiKey(other, apiKey)).toEqual({ interfaceName: 'supplier', keyId });
    expect(parseApiKey(testService, apiKey)).toBeNull();
  });

  test('parses a key whose checksum another program made, and the published example', () => {
    expect(parseApiKey(testService, exampleApiKey)).toEqual({ interfaceName: 'supplier', keyId: 'ExampleKeyId' });
    const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const [published = ''] = /dw_[a-z]+_ExampleKeyId_\w+/.exec(page) ?? [];
    expect(parseApiKey(testService, published)).toMatchObject({ keyId: 'ExampleKeyId' });
  });

  test.each([
    ['an empty string', ''],
    ['another interface with the same checksum', exampleApiKey.replace('supplier', 'customer')],
    ['an unknown interface', exampleApiKey.replace('supplier', 'operator')],
    ['another key id', exampleApiKey.replace('ExampleKeyId', 'exampleKeyId')],
    ['another secret', exampleApiKey.replace('NotA', 'NotB')],
    ['another checksum', exampleApiKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['an additional character', `${exampleApiKey}0`],
    ['a trailing line break', `${exampleApiKey}\n`],
    ['a leading space', ` ${exampleApiKey}`],
    ['upper case', exampleApiKey.toUpperCase()],
  ])('rejects %s', (_, value) => {
    expect(parseApiKey(testService, value)).toBeNull();
  });
});
