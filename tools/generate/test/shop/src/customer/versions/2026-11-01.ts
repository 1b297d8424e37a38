import { buildSchema, type GraphQLSchema } from 'graphql';

export const createSchema = (): GraphQLSchema => buildSchema('type Query { customer: String }');
