import { createHash } from 'node:crypto';
import { interfaceNames, testFirm } from '@deedwire/core/test-firm';
import { describe, expect, test } from 'vitest';
import { apiKeyPattern, exampleApiKey, generateApiKey, parseApiKey } from './api-key.ts';

describe('API keys', () => {
  test('generates keys that parse, with the SHA-256 of the whole key as their hash', () => {
    for (const interfaceName of interfaceNames) {
      const { apiKey, keyId, keyHash } = generateApiKey(testFirm, interfaceName);
      expect(apiKey).toMatch(apiKeyPattern(testFirm));
      expect(parseApiKey(testFirm, apiKey)).toEqual({ interfaceName, keyId });
      expect(keyHash).toEqual(createHash('sha256').update(apiKey).digest());
    }
  });

  test('generates distinct keys', () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey(testFirm, 'lender'));
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(200);
    expect(new Set(keys.map(({ apiKey }) => apiKey.split('_')[3])).size).toBe(200);
  });

  test('begin with the prefix of their service, and another does not parse them', () => {
    const other = { names: { ...testFirm.names, apiKeyPrefix: 'other' } };
    const { apiKey, keyId } = generateApiKey(other, 'lender');
    expect(apiKey).toMatch(/^other_lender_/);
    expect(parseApiKey(other, apiKey)).toEqual({ interfaceName: 'lender', keyId });
    expect(parseApiKey(testFirm, apiKey)).toBeNull();
  });

  test('parses the published example', () => {
    expect(exampleApiKey).toBe('dw_lender_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_2yWAfE');
    expect(parseApiKey(testFirm, exampleApiKey)).toEqual({ interfaceName: 'lender', keyId: 'ExampleKeyId' });
  });

  test.each([
    ['an empty string', ''],
    ['another interface with the same checksum', exampleApiKey.replace('lender', 'partner')],
    ['an unknown interface', exampleApiKey.replace('lender', 'operator')],
    ['another key id', exampleApiKey.replace('ExampleKeyId', 'exampleKeyId')],
    ['another secret', exampleApiKey.replace('NotA', 'NotB')],
    ['another checksum', exampleApiKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['an additional character', `${exampleApiKey}0`],
    ['a trailing line break', `${exampleApiKey}\n`],
    ['a leading space', ` ${exampleApiKey}`],
    ['upper case', exampleApiKey.toUpperCase()],
  ])('rejects %s', (_, value) => {
    expect(parseApiKey(testFirm, value)).toBeNull();
  });
});
