import { getIntrospectionQuery } from 'graphql';

const everything = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

/** The introspection queries of tools, by tool. The queries of graphql 16 and 17 differ in white space only. */
export const introspectionQueries: Readonly<Record<string, string>> = {
  'graphql, without options': getIntrospectionQuery(),
  'graphql, with all options': getIntrospectionQuery(everything),
  'graphql, with all options and deeper types': getIntrospectionQuery({ ...everything, typeDepth: 30 }),
  'graphql, without descriptions': getIntrospectionQuery({ descriptions: false }),
  // graphql-inspector too: both use @graphql-tools/url-loader.
  'graphql-codegen': getIntrospectionQuery({
    specifiedByUrl: true,
    inputValueDeprecation: true,
    schemaDescription: true,
  }),
  GraphiQL: getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true }),
};
