/** The provider's own report of a fault, in the body of an answer that began well. */
export class ReportedFault extends Error {
  readonly report: unknown;

  constructor(report: unknown) {
    super('the provider reported a fault');
    this.report = report;
  }
}
