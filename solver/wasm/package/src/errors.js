/** What went wrong, as a word for programs (`code`) and a sentence for people. */
export class BasalSolverError extends Error {
  constructor(code, sentence, options) {
    super(sentence, options);
    this.name = "BasalSolverError";
    this.code = code;
  }
}

export function refuse(code, sentence) {
  throw new BasalSolverError(code, sentence);
}
