import { gql, GraphQLClient } from 'graphql-request';
import { headers, url } from './connection.mjs';

const client = new GraphQLClient(url, { headers });

const query = gql`
  {
    partner {
      name
    }
  }
`;
const { partner } = await client.request(query);
console.log(partner.name);
