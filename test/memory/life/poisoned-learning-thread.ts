import { learningFunctions } from '../../../src/memory/learn/learning-functions.ts'
import type { Sources, ThreadFunctions } from '../../../src/storage/function-thread.ts'
import { serveFunctions } from '../../../src/storage/serve-functions.ts'

/** The learning thread, made to hang on the word "poison" and to die on "venom". */
export const poisonedFunctions = {
  ...learningFunctions,
  check: (sources: Sources) => {
    const check = learningFunctions.check(sources)
    return (request: Parameters<typeof check>[0]) => {
      const words = request.quotables.map(({ text }) => text).join(' ')
      if (words.includes('venom')) process.exit(1)
      while (words.includes('poison'));
      return check(request)
    }
  },
} as const satisfies ThreadFunctions

serveFunctions(poisonedFunctions)
