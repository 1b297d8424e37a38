import { requestLimits } from '@deedwire/graphql-server';
import * as lender from '@deedwire/lender-schema';
import { bodyCost, createPricing, readingCost } from '@deedwire/operation-analysis';
import * as partner from '@deedwire/partner-schema';
import { missing } from '@deedwire/testing';
import { getOperationAST, parse } from 'graphql';
import { expect, test } from 'vitest';
import { referenceContracts } from '../../test/firm/support/reference-contracts.ts';

const packages = { lender, partner };
const versions = referenceContracts.flatMap(({ name, versions: of }) => of.map((version) => ({ name, version })));

test.each(versions)(
  'reading the request of an example of $name $version.version costs no more than its largest response',
  ({ name, version: { version, schema, examples } }) => {
    const pricing = createPricing(schema, { costs: packages[name].costs(version), operationCostPoints: 1_000 });
    for (const { operation, document: query, exchanges } of examples)
      for (const { variables } of exchanges) {
        const document = parse(query);
        const selected = getOperationAST(document) ?? missing();
        const { requestedQueryCost } = pricing.price(document, selected, variables);
        const body = JSON.stringify({ query, variables });
        const reading = readingCost(Buffer.byteLength(query), requestLimits);
        const most = Math.max(reading, bodyCost(Buffer.byteLength(body), requestLimits));
        expect({ operation, isWithin: most <= requestedQueryCost }).toEqual({ operation, isWithin: true });
      }
  },
);
