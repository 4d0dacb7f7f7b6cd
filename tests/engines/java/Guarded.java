
/**
 * Another program's main, under the lifeline: it ends when whoever started it is gone.
 *
 * Arguments: its class, its own arguments, the port that it was told to take, the file that is told the port.
 */
public class Guarded {
    public static void main(String[] arguments) {
        Lifeline.hold();
        try {
            int own = arguments.length - 2;
            Lifeline.listening(arguments[own + 1], Integer.parseInt(arguments[own]));
            String[] rest = (String[]) java.util.Arrays.copyOfRange((Object[]) arguments, 1, own);
            Class program = Class.forName(arguments[0]);
            program.getMethod("main", new Class[] {String[].class}).invoke(null, new Object[] {rest});
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }
}
