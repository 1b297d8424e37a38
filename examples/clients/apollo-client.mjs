import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { headers, url } from './connection.mjs';

const client = new ApolloClient({
  link: new HttpLink({ uri: url, headers }),
  cache: new InMemoryCache(),
});

const query = gql`
  {
    partner {
      name
    }
  }
`;
const { data } = await client.query({ query });
console.log(data.partner.name);
