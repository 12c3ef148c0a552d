/** A migrated database that the tests' databases are copies of. */
export const TEMPLATE = 'tidemark_template';
