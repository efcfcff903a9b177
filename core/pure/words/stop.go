package words

import (
	"strings"
	"sync"
)

// stopWords are words without a meaning for a search: the function words of five languages.
var stopWords = sync.OnceValue(func() map[string]bool {
	return setOf(
		`a an the and or but if so then than is are was were be been being am it its this that these those there here i we
	you he she they them me us my our your his her their of to in on at for from with by as into about do does did done
	have has had what which who whom whose when where why how can could should would will shall may might must not no
	please again tell say said s t re ll ve much many any some`,
		`der die das den dem des ein eine einen einem einer eines und oder aber wenn so dann als ist sind war waren sei sein
	wird werden wurde wurden worden es er sie ihr ihre ihren ihrem ihrer wir ich du man uns unser unsere unseren mich mir
	dich dir sich dies diese dieser dieses diesem diesen dort hier von vom zu zum zur im in an am auf aus bei für mit nach
	über um unter vor durch ohne gegen hat haben hatte hatten was wer wen wem wie wo wann warum wieso weshalb welche
	welcher welches welchen welchem womit wofür wodurch worauf wovon kann können könnte soll sollen sollte darf dürfen
	muss müssen will wollen nicht kein keine keinen noch auch nur schon bitte gibt viel viele`,
		`le la les l un une des du de d et ou mais si alors que qu qui quoi dont où quand comment pourquoi combien quel quelle
	quels quelles est sont était étaient être été a ont avait ai as ce c cet cette ces ça il elle ils elles on nous
	vous je j tu me m te se s notre nos votre vos mon ma mes son sa ses leur leurs y en à au aux dans sur sous par pour
	avec sans chez entre ne n pas plus non peut peuvent faut doit doivent fait lieu t`,
		`el la los las un una unos unas lo y e o u pero si que qué quien quién quiénes cual cuál cuáles cuando cuándo donde
	dónde como cómo por para porque cuánto cuánta cuántos cuántas es son eran ser sido está están estar ha han había
	hay haber he se su sus mi mis tu tus nuestro nuestra nuestros nuestras este esta estos estas ese esa esos esas eso esto
	yo nosotros ellos ellas me te nos le les de del al a en con sin sobre entre no ni ya puede pueden puedo debe deben
	tiene tienen hace hacen tan tanto cada`,
		`il lo la i gli le l un uno una di del dello della dei degli delle d da dal dalla dai dalle a al allo alla ai agli
	alle in nel nella nei nelle con su sul sulla sui sulle per tra fra e ed o ma se che chi cosa cui quando dove
	perché quale quali qual quanto quanta quanti quante è sono erano essere stato stata stati state ha hanno ho
	abbiamo aveva avuto c ci si ne mi ti vi lo loro suo sua suoi sue mio mia nostro nostra nostri nostre questo
	questa questi queste quello quella quelli quelle non più può possono deve devono viene vengono ogni tanto`,
	)
})

func setOf(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, word := range strings.Fields(list) {
			set[Fold(word)] = true
		}
	}
	return set
}
