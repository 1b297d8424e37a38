/** Mirrors `Lender` of the lender interface, without its members. */
export interface Lender {
  id: string;
  name: string;
}

/** Mirrors `TeamMember` of the lender interface. */
export interface TeamMember {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
}

/** Mirrors `Partner` of the partner interface. */
export interface Partner {
  id: string;
  name: string;
}
