import { acceptAnyId } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { createSupplierSchema } from '../create-supplier-schema.ts';

export const createSchema = (): GraphQLSchema =>
  createSupplierSchema({ checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true });
