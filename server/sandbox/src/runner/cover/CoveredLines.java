import java.io.File;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.ISourceFileCoverage;
import org.jacoco.core.tools.ExecFileLoader;

/** Prints the lines that JaCoCo's report says are executed: java CoveredLines REPORT CLASSES. */
public final class CoveredLines {
    /** Folders of source files, relative to the folder of the project. Reports name packages and files only. */
    private static final String[] SOURCES = {"src/main/java/", "src/java/", "src/", ""};

    public static void main(String[] arguments) throws Exception {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(new File(arguments[0]));
        CoverageBuilder builder = new CoverageBuilder();
        new Analyzer(loader.getExecutionDataStore(), builder).analyzeAll(new File(arguments[1]));
        for (ISourceFileCoverage file : builder.getSourceFiles()) {
            print(file);
        }
    }

    private static void print(ISourceFileCoverage file) {
        String folder = file.getPackageName().isEmpty() ? "" : file.getPackageName() + "/";
        for (String source : SOURCES) {
            String path = source + folder + file.getName();
            if (new File(path).isFile()) {
                System.out.println("SF:" + path);
                printLines(file);
                return;
            }
        }
    }

    private static void printLines(ISourceFileCoverage file) {
        for (int line = file.getFirstLine(); line <= file.getLastLine(); line++) {
            if (file.getLine(line).getInstructionCounter().getCoveredCount() > 0) {
                System.out.println(line + "-" + line);
            }
        }
    }
}
