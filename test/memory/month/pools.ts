import type { Random } from '../../support/random.ts'

/** Values of each kind. A month uses each value once, so that it identifies its source. */
const POOLS = {
  city: `Bergen Lyon Porto Graz Ghent Turku Bilbao Parma Leeds Aarhus Basel Malmö Cork Zadar Gdańsk Nantes Bristol Uppsala Salzburg
    Utrecht Trieste Coimbra Granada Split Tartu Vilnius Bruges Dresden Antwerp Perugia`,
  person: `Clara Jonas Ingrid Mateo Leila Oskar Priya Tomasz Noor Esther Hugo Yara Anselm Freya Dimitri Salma Ruben Ottilie Kenji Marta
    Bastian Imogen Farid Greta Lorenzo`,
  company: `Siemens Lufthansa Ikea Spotify Maersk Bosch Philips Nokia Ericsson Airbus Heineken Swarovski Lego Zeiss Decathlon`,
  food: `coriander olives anchovies papaya beetroot liver celery marzipan tofu sardines aubergine liquorice kimchi oysters fennel
    mangoes radishes gorgonzola capers artichokes turnips figs`,
  hobby: `archery pottery fencing beekeeping juggling calligraphy bouldering birdwatching embroidery origami kayaking woodcarving
    falconry geocaching ballroom`,
  instrument: 'cello banjo oboe harp ukulele clarinet accordion mandolin bassoon viola trombone piccolo',
  code: '4711 8093 2256 7718 9034 6157 3382 5540 1879 6604 7291 8816 2947 5163 9472',
  phone: '555-0132 555-0147 555-0168 555-0173 555-0181 555-0194 555-0126 555-0115 555-0159',
  colour: 'teal crimson turquoise magenta ochre indigo maroon lavender khaki vermilion',
  car: 'Volvo Skoda Mazda Peugeot Saab Toyota Subaru Renault Fiat Kia',
  drug: 'ibuprofen metformin aspirin cetirizine omeprazole ramipril levothyroxine',
  animal: 'llama ferret tortoise parrot hedgehog axolotl goat chinchilla gecko alpaca donkey',
  stadt: 'Köln Ulm Mainz Trier Jena Kassel Bonn Lübeck Erfurt Münster Passau Fulda',
  ville: 'Lille Rennes Dijon Brest Nice Angers Metz Limoges Reims Tours Avignon',
  ciudad: 'Sevilla Quito Murcia Bogotá Toledo Cádiz Lima Oviedo Cuenca Málaga',
  город: 'Казани Омске Самаре Твери Перми Туле Курске',
  都市: '大阪 名古屋 札幌 神戸 仙台 広島 金沢',
  城市: '成都 杭州 西安 南京 武汉 青岛 厦门',
  도시: '부산 대구 인천 광주 대전 울산',
  مدينة: 'عمّان بيروت تونس القاهرة الرباط مسقط',
  עיר: 'חיפה אילת עכו צפת נתניה אשדוד',
  शहर: 'पुणे जयपुर इंदौर भोपाल नागपुर सूरत',
  πόλη: 'Λάρισα Πάτρα Βόλο Καβάλα Χανιά',
  ชื่อ: 'มะลิ ก้อง ฝน ดาว เอก',
} as const

export type Pool = keyof typeof POOLS

/** Returns each value once. */
export function createValues(random: Random) {
  const left = new Map(
    Object.entries(POOLS).map(([pool, values]) => [pool, random.shuffled(values.split(/\s+/))] as const),
  )
  return {
    take(pool: Pool): string {
      const value = left.get(pool)?.pop()
      if (value === undefined) throw new Error(`no values left in pool ${pool}`)
      return value
    },
    has: (pool: Pool, count = 1): boolean => (left.get(pool)?.length ?? 0) >= count,
  }
}

export type Values = ReturnType<typeof createValues>
