import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * A Hearts bot that ducks: it tries to lose every trick, and throws its worst cards while it does.
 *
 * <p>It reads one JSON object per line on stdin and answers each request with one line on stdout.
 * Each request carries all that the seat may know, so the bot remembers nothing between lines.
 *
 * <p>Build it with {@code javac Bot.java}, run it with {@code java -cp . Bot}. It needs Java 17.
 *
 * <p>There is no JSON parser here: the referee promises compact ASCII, {@code type} first, and plain
 * values, {@code cards} and {@code legal} before anything nested. So the first {@code "key":} in a
 * line is the one we mean.
 */
public class Bot {
    /** A card by its name, such as QS. */
    record Card(String name) {
        int rank() {
            return "23456789TJQKA".indexOf(name.charAt(0));
        }

        char suit() {
            return name.charAt(1);
        }

        /** How gladly it is thrown away: the queen of spades, then hearts from the top, then high cards. */
        int danger() {
            if (name.equals("QS")) return 200;
            return suit() == 'H' ? 100 + rank() : rank();
        }

        /** How gladly it is passed: the queen of spades, the spades above her, then high cards. */
        int passDanger() {
            if (name.equals("QS")) return 200;
            return name.equals("KS") || name.equals("AS") ? 100 + rank() : rank();
        }

        @Override
        public String toString() {
            return '"' + name + '"';
        }
    }

    static final Comparator<Card> BY_RANK = Comparator.comparingInt(Card::rank);
    static final Comparator<Card> BY_DANGER = Comparator.comparingInt(Card::danger);
    static final Comparator<Card> BY_PASS_DANGER = Comparator.comparingInt(Card::passDanger);

    /** The number after {@code "key":}, which a comma always follows. */
    static String number(String line, String key) {
        int start = line.indexOf('"' + key + "\":") + key.length() + 3;
        return line.substring(start, line.indexOf(',', start));
    }

    /** The cards in the list after {@code "key":}, such as ["2C","QS"]. */
    static List<Card> cards(String line, String key) {
        int start = line.indexOf('"' + key + "\":[") + key.length() + 4;
        int end = line.indexOf(']', start);
        List<Card> cards = new ArrayList<>();
        for (int at = start; at < end; at += "\"2C\",".length()) {
            cards.add(new Card(line.substring(at + 1, at + 3)));
        }
        return cards;
    }

    static List<Card> choosePass(String line) {
        List<Card> cards = cards(line, "cards");
        cards.sort(BY_PASS_DANGER.reversed());
        return cards.subList(0, Integer.parseInt(number(line, "count")));
    }

    static Card choosePlay(String line) {
        List<Card> legal = cards(line, "legal");
        List<Card> trick = cards(line, "trick");
        if (trick.isEmpty()) return Collections.min(legal, BY_RANK);

        char led = trick.get(0).suit();
        int best = trick.stream().filter(card -> card.suit() == led).mapToInt(Card::rank).max().getAsInt();
        List<Card> losers =
                legal.stream().filter(card -> card.suit() != led || card.rank() < best).toList();
        return losers.isEmpty() ? Collections.min(legal, BY_DANGER) : Collections.max(losers, BY_DANGER);
    }

    /** The reply to a line, or null: notices, and types we do not know, get no answer. */
    static String answer(String line) {
        if (line.startsWith("{\"type\":\"start\",")) {
            return "{\"type\":\"ready\",\"id\":%s,\"name\":\"duck-java\",\"version\":\"1\",\"tables\":64}"
                    .formatted(number(line, "id"));
        }
        if (line.startsWith("{\"type\":\"pass\",")) {
            return "{\"type\":\"pass\",\"id\":%s,\"cards\":%s}"
                    .formatted(number(line, "id"), choosePass(line));
        }
        if (line.startsWith("{\"type\":\"play\",")) {
            return "{\"type\":\"play\",\"id\":%s,\"card\":%s}".formatted(number(line, "id"), choosePlay(line));
        }
        return null;
    }

    public static void main(String[] args) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = input.readLine()) != null; ) {
            String reply = answer(line);
            if (reply != null) {
                System.out.print(reply + "\n");
                System.out.flush();
            }
        }
    }
}
