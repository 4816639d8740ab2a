import type { Feature } from './features.ts'

export type Weights = Readonly<Record<Feature, number>>

export const WEIGHTS: Weights = {
  own: 0.9,
  root: 1.2,
  window: 1.9,
  rootWindow: 1.6,
  before: 1.1,
  sittingBest: 1.6,
  answers: 1.6,
  speaker: 2.6,
  dateInside: 3.4,
  dateDay: 1.6,
  dateAfter: 1.4,
  tellsTime: 1.7,
  tellsNumber: 1,
  tellsName: 2,
  quotesTitle: 0.8,
  endsAsking: -0.6,
  acknowledges: -0.3,
  opening: 0.6,
  memory: 0.5,
}
