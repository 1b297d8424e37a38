import { buildSchema } from 'graphql';

/** A schema with every kind of type, covariant fields, and descriptions that need escapes or several bytes in JSON. */
export const richSchema = buildSchema(/* GraphQL */ `
  "A \\"quoted\\" description, with ümläuts, 漢字 and 🙂."
  schema {
    query: Root
    mutation: Change
  }
  directive @example(text: String = "a\\nb", list: [Int!]! = [1, 2]) repeatable on FIELD | OBJECT
  scalar Url @specifiedBy(url: "https://example.com/ü")
  type Root {
    user(id: ID, name: String = "x", tags: [String!] = ["a", "b"], filter: Filter): User
    pets(first: Int = 10, kind: Kind = CAT): [Pet!]!
    named: [Named]
    thing: Thing
    self: Root
  }
  type Change {
    rename(id: ID!, name: String!): User
  }
  interface Named {
    name: String
    owner: Named
  }
  interface Aged implements Named {
    name: String
    owner: Named
    age(unit: String = "years"): Int
  }
  "Ein Mensch: ä"
  type User implements Named & Aged {
    name: String!
    owner: User
    age(unit: String = "years"): Int!
    "Says \\"why\\"."
    old: String @deprecated(reason: "Use \\"name\\".")
    friends(first: Int, after: String): [User]
    pet: Pet
    url: Url
  }
  type Cat implements Named {
    name: String
    owner: Named
    lives: Int
    size: Float
    url: String
  }
  type Dog implements Named & Aged {
    name: String
    owner: Cat
    age(unit: String = "years"): Int
    size: Int
    url: Url!
    friends(first: Int): [Dog!]
  }
  union Pet = Cat | Dog
  union Thing = User | Cat | Dog
  enum Kind {
    CAT
    "A dog."
    DOG @deprecated
  }
  input Filter {
    kind: Kind = DOG
    nested: Filter
    text: String = "  \\"quoted\\""
    old: Int @deprecated
  }
  input Choice @oneOf {
    a: Int
    b: String
  }
`);
